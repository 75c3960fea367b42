import type { ErrorCode } from '../../core/errors.ts'
import type { Json } from './json.ts'

export interface ProblemKind {
  readonly meaning: string
  readonly detail?: string
  readonly facts?: Readonly<Partial<Record<Fact, number | string>>>
}

const BYTES = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const COUNT = { type: 'integer', minimum: 0 }

export const FACTS = {
  parameter: {
    type: 'string',
    description: 'The name of the invalid parameter, header or member.',
  },
  sha256: {
    type: 'string',
    description: 'SHA-256 of the received file, in lower-case hexadecimal.',
  },
  capacity: { ...BYTES, description: 'Capacity of the repository, in bytes.' },
  used: { ...BYTES, description: 'Bytes used by files.' },
  reserved: { ...BYTES, description: 'Bytes reserved by uploads in progress.' },
  requested: {
    ...BYTES,
    description: 'Size of the file in bytes, as far as known when the request was refused.',
  },
  available: { ...BYTES, description: 'Bytes that are still available.' },
  file_count: { ...COUNT, description: 'Number of files in the repository.' },
  max_files: { ...COUNT, description: 'Maximum number of files per user.' },
  max_file_size: { ...BYTES, description: 'Maximum size of a file, in bytes.' },
  size: { ...BYTES, description: 'Size of the file, in bytes.' },
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
  offset: { ...BYTES, description: 'The current offset of the upload.' },
  provided_offset: { ...BYTES, description: 'The `Upload-Offset` of the request.' },
  'expected-offset': { ...BYTES, description: '`offset`, as the IETF draft names it.' },
  'provided-offset': { ...BYTES, description: '`provided_offset`, as the IETF draft names it.' },
  length: { ...BYTES, description: 'The length of the upload.' },
  outcome: {
    type: 'string',
    enum: ['finished', 'cancelled', 'expired', 'lost'],
    description: 'How the upload ended. `lost`: the object store no longer has its bytes.',
  },
  unfinished_count: { ...COUNT, description: "Number of the user's unfinished uploads." },
  unfinished_bytes: { ...BYTES, description: 'Sum of their announced lengths.' },
  max_unfinished_uploads: { ...COUNT, description: 'Maximum number of unfinished uploads.' },
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
} as const satisfies Record<string, Json>

type Fact = keyof typeof FACTS

export const PROBLEM_CATALOG: Readonly<Record<ErrorCode, ProblemKind>> = {
  format_error: {
    meaning: 'The request, its form or its body is malformed.',
    detail: 'The body is not valid JSON.',
  },
  missing_file_part: {
    meaning: 'The form has no part `file` with a `filename` parameter.',
    detail: 'The form has no part named "file".',
  },
  multiple_file_parts: { meaning: 'The form has more than one file.' },
  truncated_body: {
    meaning: 'The body ended before it was complete.',
    detail: 'The body ended before the closing boundary of the form.',
  },
  invalid_file_name: {
    meaning:
      'A file name must be 1 to 255 bytes of UTF-8 without `/`, `\\` or control characters, and not `.` or `..`.',
    detail: 'The file name contains a slash, a backslash or a control character.',
  },
  invalid_parameter: {
    meaning: 'A parameter, header or member is invalid. `parameter` is its name.',
    detail: 'limit must be an integer between 1 and 1000.',
    facts: { parameter: 'limit' },
  },
  digest_mismatch: {
    meaning: 'The received file does not match `Repr-Digest`. `sha256` is the actual digest.',
    detail: 'The received content does not match the Repr-Digest header.',
    facts: { sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  },
  access_token_missing: {
    meaning: 'The request needs the cookie `access_token`.',
    detail: 'This request needs the cookie "access_token".',
  },
  access_token_invalid: {
    meaning:
      'The access token is unknown, expired or revoked, or the cookies contain different tokens (`access_tokens`).',
    detail: 'The access token is not valid.',
  },
  capacity_exceeded: {
    meaning: 'The file does not fit into the available capacity.',
    facts: { capacity: 1000, used: 900, reserved: 0, requested: 200, available: 100 },
  },
  file_count_exceeded: {
    meaning: 'The repository already contains the maximum number of files.',
    facts: { file_count: 100_000, max_files: 100_000 },
  },
  unfinished_uploads_exceeded: {
    meaning:
      'The user has too many unfinished uploads, or their announced lengths exceed the capacity.',
    facts: { unfinished_count: 100, unfinished_bytes: 900, max_unfinished_uploads: 100 },
  },
  tus_version_unsupported: {
    meaning: '`Tus-Resumable` is missing, or is not one of the versions in `Tus-Version`.',
    detail: 'The header Tus-Resumable must be 1.0.0.',
  },
  unsupported_media_type: {
    meaning: 'The Content-Type of an append is not `application/offset+octet-stream`.',
    detail: 'The Content-Type must be application/offset+octet-stream.',
  },
  offset_mismatch: {
    meaning: '`Upload-Offset` is not the current `offset` of the upload.',
    detail: 'The offset of the upload is 73400320.',
    facts: { offset: 73_400_320, provided_offset: 0 },
  },
  upload_gone: {
    meaning: 'The upload has ended, with the given `outcome`.',
    detail: 'This upload was cancelled, or its content was refused. Create a new upload.',
    facts: { outcome: 'cancelled' },
  },
  upload_length_exceeded: {
    meaning: 'The body exceeds the length of the upload.',
    facts: { length: 1000 },
  },
  upload_busy: {
    meaning: 'Another request is working on the upload. Try again after `retry_after` seconds.',
    detail: 'Another request is working on this upload.',
    facts: { retry_after: 5 },
  },
  checksum_mismatch: {
    meaning: 'The body does not match `Upload-Checksum`. None of its bytes count.',
    detail: 'The body does not match the Upload-Checksum header.',
  },
  user_suspended: {
    meaning: 'The user of the access token is suspended.',
    detail: 'The user of this access token is suspended.',
  },
  cross_site_request: {
    meaning: 'A page on another site sent the request.',
    detail: 'Pages on other sites are not allowed to make changes.',
  },
  not_found: {
    meaning: 'The resource does not exist, or the caller may not see it.',
    detail: 'The file was not found.',
  },
  method_not_allowed: {
    meaning: 'The path does not support the method. `Allow` lists the supported methods.',
    detail: 'This path supports only these methods: GET, HEAD.',
  },
  request_timeout: {
    meaning: 'The request or its body did not arrive in time.',
    detail: 'The request did not arrive in time.',
  },
  file_exists: { meaning: 'Another file already has the new name.' },
  user_exists: { meaning: 'The deleted user with this id is still being purged.' },
  precondition_failed: {
    meaning: 'A precondition (`If-Match`, `If-None-Match` or `If-Unmodified-Since`) does not hold.',
    detail: 'A precondition of the request does not hold.',
  },
  file_too_large: {
    meaning: 'The file is larger than the maximum file size.',
    facts: { max_file_size: 5_368_709_120 },
  },
  request_head_too_large: { meaning: 'The request head is larger than 16 KiB.' },
  range_not_satisfiable: {
    meaning: 'The range contains no part of the file.',
    detail: "The range contains none of the file's 6143 bytes.",
    facts: { size: 6143 },
  },
  too_many_requests: {
    meaning:
      'The address has sent too many wrong tokens, the user (without a token: the address) has too many uploads ' +
      'or downloads in progress, or too many replaced and deleted files of the user are still awaiting removal.',
    detail: 'This address has sent too many wrong tokens.',
    facts: { retry_after: 60 },
  },
  unauthorized: {
    meaning: 'The bearer token of the admin API is missing or wrong.',
    detail: 'This request needs the bearer token of the admin API.',
  },
  internal_error: {
    meaning: "An internal error occurred. The service's log has the cause under the request id.",
    detail:
      "An internal error occurred. To find the cause, search the service's log for this request id.",
  },
  unavailable: {
    meaning:
      'The database, the object store or the identity provider does not respond, the object store does not find the ' +
      'content of the file, no memory is available for the upload, too many downloads are in progress, or the ' +
      'service is shutting down.',
    detail: 'The service is shutting down.',
  },
  insufficient_storage: {
    meaning:
      'The disk is nearly full, so uploads are refused. Other requests work. Nothing has changed.',
    detail: "The service's disk is nearly full, so uploads are refused.",
  },
}
