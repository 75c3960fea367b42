import type { Schemas } from '../../openapi/operation.ts'
import { UPLOAD_ID } from '../../shared-routes/upload-resource.ts'
import { TUS_VERSION } from './tus-headers.ts'

const BYTES = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

export const UPLOAD_ID_PARAM = {
  type: 'string',
  format: 'uuid',
  description: 'The id of the upload, as in the `Location` of its creation.',
  examples: [UPLOAD_ID],
} as const

export const TUS_RESUMABLE = {
  type: 'string',
  const: TUS_VERSION,
  description: 'The version of the tus protocol.',
  required: true,
} as const

/** Of a HEAD. */
export const TUS_RESUMABLE_OR_NONE = {
  ...TUS_RESUMABLE,
  description: 'The version of the tus protocol. Without it, the request only reads the offset.',
  required: false,
} as const

export const UPLOAD_LENGTH = {
  ...BYTES,
  description: 'Size of the whole file in bytes.',
  examples: [6143],
} as const

export const UPLOAD_CHECKSUM = {
  type: 'string',
  pattern:
    '^(sha1 [A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=|sha256 [A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$',
  description: 'Digest of this body. If the body does not match it, none of its bytes count.',
  examples: ['sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0='],
} as const

export const REPR_DIGEST = {
  type: 'string',
  pattern: '^sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:$',
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
export function ofUpload(header: Schemas = {}) {
  return {
    path: { upload_id: UPLOAD_ID_PARAM },
    header: { 'Tus-Resumable': TUS_RESUMABLE, ...header },
  }
}
