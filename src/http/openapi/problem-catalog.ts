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
  parameter: { type: 'string', description: 'What was not valid, as it is named in the request.' },
  sha256: { type: 'string', description: 'SHA-256 of what came, in lower-case hexadecimal.' },
  capacity: { ...BYTES, description: 'Capacity of the repository, in bytes.' },
  used: { ...BYTES, description: 'Bytes of the files in it.' },
  reserved: { ...BYTES, description: 'Bytes that uploads under way have reserved.' },
  requested: { ...BYTES, description: 'Bytes that were asked for, as far as known by then.' },
  available: { ...BYTES, description: 'Bytes that are left.' },
  file_count: { ...COUNT, description: 'Files in the repository.' },
  max_files: { ...COUNT, description: 'Files that a user may have.' },
  max_file_size: { ...BYTES, description: 'Bytes that a file may have.' },
  size: { ...BYTES, description: 'Bytes of the file.' },
  access_tokens: {
    type: 'integer',
    minimum: 2,
    description:
      'How many different access tokens the cookies of the request have, where that is why.',
  },
  retry_after: {
    type: 'integer',
    minimum: 1,
    description: 'Seconds to wait, as in `Retry-After`.',
  },
  database: {
    type: 'string',
    enum: ['ok', 'full', 'failing'],
    description:
      'Whether the database answers (`/readyz`); `full` when it can be read but not written, because its disk is full.',
  },
  object_store: {
    type: 'string',
    enum: ['ok', 'failing'],
    description: 'Whether the object store answers (`/readyz`).',
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
  multiple_file_parts: {
    meaning: 'The form has more than one file.',
  },
  truncated_body: {
    meaning: 'The body ended before its time.',
    detail: 'The body ended before the form did.',
  },
  invalid_file_name: {
    meaning:
      'A file name is 1 to 255 bytes of UTF-8 without `/`, `\\` and controls, and not `.` or `..`.',
    detail: 'The file name holds a slash, a backslash or a control character.',
  },
  invalid_parameter: {
    meaning: 'A parameter, header or member is not valid; `parameter` names it.',
    detail: 'limit is a whole number from 1 to 1000.',
    facts: { parameter: 'limit' },
  },
  digest_mismatch: {
    meaning: 'The file is not what `Repr-Digest` says; `sha256` is of what came.',
    detail: 'The content does not have the digest that was sent.',
    facts: { sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  },
  access_token_missing: {
    meaning: 'The operation needs the cookie `access_token`.',
    detail: 'This request needs the cookie "access_token".',
  },
  access_token_invalid: {
    meaning:
      'The access token is unknown, expired or revoked, or the cookies have two different ones (`access_tokens`).',
    detail: 'The access token is not valid.',
  },
  capacity_exceeded: {
    meaning: 'The file does not fit into the repository.',
    facts: { capacity: 1000, used: 900, reserved: 0, requested: 200, available: 100 },
  },
  file_count_exceeded: {
    meaning: 'The repository holds the maximum number of files.',
    facts: { file_count: 100_000, max_files: 100_000 },
  },
  user_suspended: {
    meaning: 'The user of the access token is suspended.',
    detail: 'The user of this access token is suspended.',
  },
  cross_site_request: {
    meaning: 'A page of another site made the browser send this.',
    detail: 'Pages of another site may not write here.',
  },
  not_found: {
    meaning: 'It is not there, or not for the caller to see.',
    detail: 'There is no such file.',
  },
  method_not_allowed: {
    meaning: 'The path is known, the method is not; `Allow` has those that are.',
    detail: 'Only GET, HEAD work here.',
  },
  request_timeout: {
    meaning: 'The request or its body did not come in time.',
    detail: 'The request did not come in time.',
  },
  file_exists: {
    meaning: 'Another file has the new name.',
    detail: 'There is a file of the new name.',
  },
  user_exists: {
    meaning: 'The deleted user of this id is still being purged.',
    detail: 'A deleted user of this id is still being purged.',
  },
  precondition_failed: {
    meaning: 'The file is not what `If-Match`, `If-None-Match` or `If-Unmodified-Since` demand.',
    detail: 'The file is not what the preconditions demand.',
  },
  file_too_large: {
    meaning: 'The file is larger than any may be.',
    detail: 'The file is larger than this service takes.',
    facts: { max_file_size: 5_368_709_120 },
  },
  request_head_too_large: {
    meaning: 'The head of the request is larger than 16 KiB.',
    detail: 'The head of the request is too large.',
  },
  range_not_satisfiable: {
    meaning: 'No byte of the range is within the file.',
    detail: 'No byte of the range is within the file, which has 6143 bytes.',
    facts: { size: 6143 },
  },
  too_many_requests: {
    meaning:
      'Too many wrong tokens came from the address, the user has too many uploads or downloads under way, or too much of ' +
      'what the user has replaced and deleted is still kept.',
    detail: 'Too many wrong tokens came from this address.',
    facts: { retry_after: 60 },
  },
  unauthorized: {
    meaning: 'The bearer token of the admin API is missing or wrong.',
    detail: 'This request needs the bearer token of the admin API.',
  },
  internal_error: {
    meaning: 'The service failed; its log has the reason under the request id.',
    detail: 'The service failed. The request id finds the reason in its log.',
  },
  unavailable: {
    meaning:
      'The database, the object store or the identity provider does not answer, the store does not find the content of the ' +
      'file, there is no memory left for the upload, or the service is shutting down.',
    detail: 'The service is shutting down.',
  },
  insufficient_storage: {
    meaning:
      'The disk of the service is nearly full, so it takes no uploads. All else works, and nothing has changed.',
    detail: 'The service has no space left for uploads.',
  },
}
