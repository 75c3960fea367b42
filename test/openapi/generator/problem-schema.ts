import { ERROR_CODES, type ExampleFact } from '../../../src/core/error-codes.ts'
import type { Json } from '../../../src/http/openapi/operation.ts'

function bytes(description: string): Json {
  return { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }
}

function count(description: string): Json {
  return { type: 'integer', minimum: 0, description }
}

/** The members that some codes have. */
const FACTS = {
  parameter: {
    type: 'string',
    description: 'The name of the invalid parameter, header or member.',
  },
  sha256: {
    type: 'string',
    description: 'SHA-256 of the received file, in lower-case hexadecimal.',
  },
  limit: {
    type: 'string',
    enum: ['account', 'device'],
    description:
      'What is full: the account, or the share of the device `device_id`, whose figures then follow.',
  },
  device_id: { type: 'string', description: 'The device whose share is full.' },
  capacity: bytes('Capacity of the repository, in bytes.'),
  used: bytes('Bytes used by files.'),
  reserved: bytes('Bytes reserved by uploads in progress.'),
  requested: bytes('Size of the file in bytes, as far as known when the request was refused.'),
  available: bytes('Bytes that are still available.'),
  evictable: bytes('Bytes that the upload could evict, if it may evict.'),
  file_count: count('Number of files in the repository.'),
  max_files: count('Maximum number of files per user.'),
  max_file_size: bytes('Maximum size of a file, in bytes.'),
  size: bytes('Size of the file, in bytes.'),
  required: {
    type: 'string',
    description:
      'What the access token lacks: an action, or `prefix`, `device_id`, `when_full` or `expires_in`. Of the admin API, a role.',
  },
  max_access_tokens: count('Maximum number of valid access tokens per user.'),
  max_links: count('Maximum number of links per user.'),
  max_operators: count('Maximum number of operators.'),
  access_tokens: {
    type: 'integer',
    minimum: 2,
    description: 'Number of different access tokens in the cookies, if there is more than one.',
  },
  retry_after: {
    type: 'integer',
    minimum: 1,
    description: 'Seconds to wait, as in `Retry-After`.',
  },
  offset: bytes('The current offset of the upload.'),
  provided_offset: bytes('The `Upload-Offset` of the request.'),
  length: bytes('The length of the upload.'),
  outcome: {
    type: 'string',
    enum: ['finished', 'cancelled', 'expired', 'lost'],
    description: 'How the upload ended. `lost`: the object store no longer has its bytes.',
  },
  unfinished_count: count("Number of the user's unfinished uploads."),
  unfinished_bytes: bytes('Sum of their announced lengths.'),
  max_unfinished_uploads: count('Maximum number of unfinished uploads.'),
  operation: count('Index of the operation that a batch is refused for.'),
  matched: count(
    'Number of files that its prefix matches, if they are too many; exact up to 10,000.',
  ),
  name: {
    type: 'string',
    description: 'Of a rename by prefix, the new name that is taken or invalid.',
  },
  database: {
    type: 'string',
    enum: ['ok', 'full', 'failing'],
    description:
      'State of the database (`/readyz`). `full`: its disk is full, so it can be read but not written.',
  },
  object_store: {
    type: 'string',
    enum: ['ok', 'failing'],
    description: 'State of the object store (`/readyz`).',
  },
} satisfies Readonly<Record<ExampleFact, Json>> & Json

export const PROBLEM_SCHEMA: Json = {
  type: 'object',
  description:
    'A problem document (RFC 9457). Clients should branch on `code`. Some codes have additional members.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      description: '`urn:cloud-repository:problem:` followed by the code.',
    },
    title: { type: 'string', description: 'The reason phrase of the status.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'A human-readable explanation.' },
    code: {
      type: 'string',
      enum: ERROR_CODES,
      description: 'The cause, one of a fixed list of codes.',
    },
    request_id: {
      type: 'string',
      format: 'uuid',
      description: 'The value of the header `X-Request-Id`.',
    },
    ...FACTS,
  },
}
