import { VISIBILITIES } from '../../../core/files/file.ts'
import { MAX_FIELDS } from '../../multipart/form-parser.ts'
import { MAX_EXPIRES_IN_SECONDS } from '../../../core/auth/terms.ts'
import { FILE_NAME_PREFIX_PATTERN, MAX_FILE_NAME_BYTES } from '../../../core/files/file-name.ts'
import { BINARY, type Operation, type Schemas } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'

const VISIBILITY = {
  type: 'string',
  enum: VISIBILITIES,
  description:
    'Who may download the file. The default for a new file is `private`. A replaced file keeps its visibility.',
} as const

/** Of every request that begins an upload. */
export const RETENTION = {
  evict: {
    type: 'string',
    maxLength: MAX_FILE_NAME_BYTES,
    pattern: FILE_NAME_PREFIX_PATTERN,
    description:
      'If the file does not fit, the oldest files whose names begin with this make room: at most 1,000, without those ' +
      'that have `keep`. May be empty. Needs `delete` and `history` in the scope of the token.',
  },
  expires_in: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_EXPIRES_IN_SECONDS,
    description:
      'The file expires so many seconds after it is stored. By default, it does not expire.',
  },
} as const

const METADATA_TEXT =
  'What is kept with the file: a JSON object of strings, at most 2 KiB. A replaced file keeps its metadata by default.'

/** Of every request that stores a file whole. */
const FILE_METADATA = {
  'File-Metadata': {
    type: 'string',
    description: `${METADATA_TEXT} In ASCII, with \\u escapes for other characters, or in UTF-8.`,
    examples: ['{"camera":"front door"}'],
  },
} as const

export const REPR_DIGEST = {
  type: 'string',
  pattern: '^sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:$',
  description:
    'The SHA-256 of the file (RFC 9530), checked before the file becomes visible. Other algorithms are ignored.',
  examples: ['sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'],
} as const

const UPLOAD = {
  tag: 'files',
  parameters: {
    path: { file_name: FILE_NAME },
    query: { visibility: VISIBILITY, ...RETENTION },
    header: {
      ...PRECONDITIONS,
      'Repr-Digest': REPR_DIGEST,
      ...FILE_METADATA,
    },
  },
  problems: ['digest_mismatch', 'capacity_exceeded', 'file_count_exceeded', 'file_too_large'],
} as const satisfies Partial<Operation>

export const STORED_EXAMPLE = {
  replaced: false,
  capacity: { capacity: 1_073_741_824, used: 6143, reserved: 0, available: 1_073_735_681 },
} as const

const STORED = {
  description: 'The file is stored. It replaces any existing file with the same name.',
  example: STORED_EXAMPLE,
} as const

export const FORM_UPLOAD = {
  ...UPLOAD,
  operationId: 'uploadFile',
  summary: 'Upload a file as a form',
  description:
    'An upload that exceeds the capacity or the maximum number of files gets 403. The request is safe to ' +
    'repeat.\n\n' +
    'If several causes apply, the response reports the first in this order: another site, the access token, the ' +
    'file name, the form, the preconditions, the maximum file size, the number of uploads in progress, the ' +
    'replaced and deleted files that are awaiting removal, the number of files, the capacity.',
  requestBody: formBody(
    {
      visibility: VISIBILITY,
      metadata: {
        type: 'string',
        contentMediaType: 'application/json',
        description: `${METADATA_TEXT} Sent before the file, it also survives a rebuild of the database.`,
      },
    },
    'The content, in one part with a `filename` parameter, whose value is ignored. Its `Content-Type` is ' +
      'the media type of the file. The form may have up to 100 other parts, of 64 KiB in total, and of 16 KiB ' +
      'each if they are JSON. They are ignored, except for `visibility` and `metadata`.',
  ),
  responses: { 200: STORED },
  problems: [...UPLOAD.problems, 'missing_file_part', 'multiple_file_parts'],
} as const satisfies Operation

/** A form with a file, which `file` describes, and the fields that are read. */
export function formBody(fields: Schemas, file: string) {
  const schema = {
    type: 'object',
    required: ['file'],
    maxProperties: MAX_FIELDS + 1,
    properties: {
      ...fields,
      file: {
        type: 'string',
        format: 'binary',
        contentMediaType: 'application/octet-stream',
        description: file,
      },
    },
  }
  const encoding = { file: { contentType: 'application/octet-stream' } }
  return { required: true, content: { 'multipart/form-data': { schema, encoding } } }
}

export const RAW_UPLOAD = {
  ...UPLOAD,
  operationId: 'putFile',
  summary: 'Upload a file as the request body',
  description:
    'The body is stored byte for byte. Its `Content-Type` is the media type of the file; if it is missing, ' +
    'malformed, `application/octet-stream` or `application/x-www-form-urlencoded`, the extension of the name ' +
    'decides. The request is safe to repeat.',
  requestBody: {
    description:
      'The content of the file. Without a body, an empty file is stored or, if the name ends in `/`, an empty folder.',
    required: false,
    content: { 'application/octet-stream': BINARY },
  },
  responses: {
    200: { ...STORED, headers: ['ETag', 'Cache-Control', 'Content-Encoding'] },
  },
} as const satisfies Operation
