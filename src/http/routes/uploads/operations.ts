import { VISIBILITIES } from '../../../core/files/file.ts'
import { BINARY, type Operation, type Schemas } from '../../openapi/operation.ts'
import { PRECONDITIONS } from '../../openapi/parameters.ts'
import { UPLOAD_ID } from './upload-resource.ts'
import { RETENTION, REPR_DIGEST as WHOLE_DIGEST } from '../files/upload.openapi.ts'
import { APPEND_MEDIA_TYPE, MAX_UPLOAD_METADATA_BYTES, TUS_VERSION } from './tus-headers.ts'

const BYTES = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

export const UPLOAD_ID_PARAM = {
  type: 'string',
  format: 'uuid',
  description: 'The id of the upload, as in the `Location` of its creation.',
  examples: [UPLOAD_ID],
} as const

export const TUS_RESUMABLE = {
  type: 'string',
  enum: [TUS_VERSION],
  description: 'The version of the tus protocol.',
  required: true,
} as const

/** Of a HEAD. */
export const TUS_RESUMABLE_OR_NONE = {
  ...TUS_RESUMABLE,
  description: 'The version of the tus protocol. Without it, the request only reads the offset.',
  required: false,
} as const

const UPLOAD_LENGTH = {
  ...BYTES,
  description: 'Size of the whole file in bytes.',
  examples: [6143],
} as const

const UPLOAD_CHECKSUM = {
  type: 'string',
  pattern:
    '^(sha1 [A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=|sha256 [A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$',
  description: 'Digest of this body. If the body does not match it, none of its bytes count.',
  examples: ['sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0='],
} as const

const REPR_DIGEST = {
  type: 'string',
  pattern: WHOLE_DIGEST.pattern,
  description: 'SHA-256 of the whole file (RFC 9530), checked before the file is stored.',
} as const

const APPEND_HEADERS = {
  'Upload-Offset': {
    ...BYTES,
    description: 'The current offset of the upload, at which the body begins.',
  },
  'Upload-Length': { ...UPLOAD_LENGTH, description: 'Declares a deferred length.' },
  'Upload-Checksum': UPLOAD_CHECKSUM,
  'Repr-Digest': REPR_DIGEST,
} as const

export const PATCH_HEADERS = {
  ...APPEND_HEADERS,
  'Upload-Offset': { ...APPEND_HEADERS['Upload-Offset'], required: true },
} as const

/** Of a POST, which can also cancel. */
export const OVERRIDE_HEADERS = {
  'X-HTTP-Method-Override': {
    required: true,
    type: 'string',
    enum: ['PATCH', 'DELETE'],
    description: 'The intended method. Without this header, the response is 405.',
  },
  ...APPEND_HEADERS,
} as const

/** The parameters of every request to an upload, with some headers more. */
function ofUpload(header: Schemas = {}) {
  return {
    path: { upload_id: UPLOAD_ID_PARAM },
    header: { 'Tus-Resumable': TUS_RESUMABLE, ...header },
  }
}

const CONTENT = { [APPEND_MEDIA_TYPE]: BINARY } as const

/** The codes with which the body of a creation or an append can be refused. */
const BODY_PROBLEMS = [
  'file_too_large',
  'unsupported_media_type',
  'upload_length_exceeded',
  'checksum_mismatch',
] as const

/** The codes with which the commit of a sealed upload can be refused. */
const COMMIT_PROBLEMS = [
  'capacity_exceeded',
  'file_count_exceeded',
  'precondition_failed',
  'digest_mismatch',
] as const

/** Of every request to an upload, except the one that cancels it. */
const ON_UPLOAD = ['not_found', 'upload_gone', 'upload_busy', 'tus_version_unsupported'] as const

export const DISCOVER = {
  tag: 'uploads',
  operationId: 'getUploadCapabilities',
  summary: 'Get the protocol version, the extensions and the maximum file size',
  credentials: 'optional',
  responses: {
    204: {
      description: 'The capabilities of this service.',
      headers: [
        'Tus-Resumable',
        'Tus-Version',
        'Tus-Extension',
        'Tus-Max-Size',
        'Tus-Checksum-Algorithm',
      ],
    },
  },
} as const satisfies Operation

export const CREATE_HEADERS = {
  'Tus-Resumable': TUS_RESUMABLE,
  'Upload-Length': UPLOAD_LENGTH,
  'Upload-Defer-Length': {
    type: 'string',
    enum: ['1'],
    description: 'Sent instead of `Upload-Length` if a later append declares the length.',
  },
  'Upload-Metadata': {
    required: true,
    type: 'string',
    maxLength: MAX_UPLOAD_METADATA_BYTES,
    description:
      'Pairs of a key and a base64 value, separated by commas. `filename` is required; `visibility`, `filetype` (the ' +
      'media type) and `metadata` (a JSON object of strings, at most 2 KiB) are optional.',
    examples: ['filename aGVsbG8udHh0'],
  },
  'Upload-Checksum': UPLOAD_CHECKSUM,
  'Repr-Digest': REPR_DIGEST,
} as const

export const CREATE = {
  tag: 'uploads',
  operationId: 'createUpload',
  summary: 'Create a resumable upload',
  description:
    'Reserves the length, so that a file that does not fit is refused before any byte is sent. With a body, also ' +
    'appends. Preconditions and `Repr-Digest` apply to the file. Preconditions are checked again at the end.',
  parameters: {
    query: {
      visibility: {
        type: 'string',
        enum: VISIBILITIES,
        description:
          'Who may read the file. Takes precedence over the key `visibility` of `Upload-Metadata`.',
      },
      ...RETENTION,
    },
    header: { ...CREATE_HEADERS, ...PRECONDITIONS },
  },
  requestBody: { required: false, content: CONTENT },
  responses: {
    201: {
      description: 'The upload was created. `Location` refers to it.',
      headers: ['Location', 'Tus-Resumable', 'Upload-Offset', 'Upload-Expires'],
    },
  },
  problems: [
    'tus_version_unsupported',
    'invalid_file_name',
    ...BODY_PROBLEMS,
    ...COMMIT_PROBLEMS,
    'unfinished_uploads_exceeded',
    'upload_busy',
  ],
} as const satisfies Operation

export const OFFSET = {
  tag: 'uploads',
  operationId: 'getUploadOffset',
  summary: 'Get the offset at which to continue',
  description:
    'Stops a running append, so that its bytes count. An offset equal to the length means that the file is stored. ' +
    '`upload_busy` can also mean a temporary failure of the service.',
  parameters: ofUpload({ 'Tus-Resumable': TUS_RESUMABLE_OR_NONE }),
  responses: {
    200: {
      description: 'The next append must begin at `Upload-Offset`.',
      headers: [
        'Tus-Resumable',
        'Upload-Offset',
        'Upload-Length',
        'Upload-Metadata',
        'Upload-Expires',
        'Cache-Control',
      ],
    },
  },
  problems: [...ON_UPLOAD, ...COMMIT_PROBLEMS],
} as const satisfies Operation

export const APPEND = {
  tag: 'uploads',
  operationId: 'appendToUpload',
  summary: 'Append bytes to an upload',
  description:
    'If the connection breaks, the bytes that have arrived are kept. The append that reaches the length stores the ' +
    'file, and its response has the SHA-256 of the file in `Repr-Digest`. A client that cannot send PATCH sends ' +
    'POST with `X-HTTP-Method-Override: PATCH`.',
  parameters: ofUpload(PATCH_HEADERS),
  requestBody: { required: false, content: CONTENT },
  responses: {
    204: {
      description: 'The bytes below `Upload-Offset` are durable.',
      headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Expires', 'Repr-Digest'],
    },
  },
  problems: [
    ...ON_UPLOAD,
    'offset_mismatch',
    'invalid_file_name',
    ...BODY_PROBLEMS,
    ...COMMIT_PROBLEMS,
    'unfinished_uploads_exceeded',
  ],
} as const satisfies Operation

export const CANCEL = {
  tag: 'uploads',
  operationId: 'cancelUpload',
  summary: 'Cancel an upload',
  description: 'Releases its reservation immediately.',
  parameters: ofUpload(),
  responses: { 204: { description: 'The upload was cancelled.', headers: ['Tus-Resumable'] } },
  problems: ['not_found', 'upload_gone', 'tus_version_unsupported'],
} as const satisfies Operation

export const OVERRIDE = {
  tag: 'uploads',
  operationId: 'overrideUpload',
  summary: 'Append to an upload, or cancel it, without PATCH and DELETE',
  description:
    'For clients that cannot send these methods. Has the same effect as a request with the named method.',
  parameters: ofUpload(OVERRIDE_HEADERS),
  requestBody: { required: false, content: CONTENT },
  responses: { 204: APPEND.responses[204] },
  problems: [...APPEND.problems, 'method_not_allowed'],
} as const satisfies Operation
