export interface ErrorKind {
  /** The HTTP status of the refusal. */
  readonly status: number
  /** What the code means, for the OpenAPI documents. */
  readonly meaning: string
  /** An example of a problem's `detail`, if `meaning` is none. */
  readonly detail?: string
  /** Examples of the problem's further members. */
  readonly facts?: Readonly<Record<string, number | string>>
}

/** In the order of the OpenAPI documents. */
const KINDS = {
  format_error: {
    status: 400,
    meaning: 'The request, its form or its body is malformed.',
    detail: 'The body is not valid JSON.',
  },
  missing_file_part: {
    status: 400,
    meaning: 'The form has no part `file` with a `filename` parameter.',
    detail: 'The form has no part named "file".',
  },
  multiple_file_parts: {
    status: 400,
    meaning: 'The form has more than one file.',
  },
  truncated_body: {
    status: 400,
    meaning: 'The body ended before it was complete.',
    detail: 'The body ended before the closing boundary of the form.',
  },
  invalid_file_name: {
    status: 400,
    meaning:
      'The file name breaks a rule: 1 to 1,024 bytes of UTF-8 in segments of 1 to 255 joined by `/`, none of them `.` or `..`, without `\\` and control characters; one that ends in `/` has no content.',
    detail: 'The file name has two slashes in a row.',
  },
  invalid_parameter: {
    status: 400,
    meaning: 'A parameter, header or member is invalid. `parameter` is its name.',
    detail: 'limit must be an integer between 1 and 1000.',
    facts: { parameter: 'limit' },
  },
  digest_mismatch: {
    status: 400,
    meaning: 'The received file does not match `Repr-Digest`. `sha256` is the actual digest.',
    detail: 'The received content does not match the Repr-Digest header.',
    facts: { sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  },
  archive_too_large: {
    status: 400,
    meaning: 'The archive would have more than `max_files` files.',
    detail: 'An archive has at most 10000 files. Choose a longer prefix.',
    facts: { max_files: 10_000 },
  },
  access_token_missing: {
    status: 403,
    meaning: 'The request needs an access token.',
    detail:
      'This request needs an access token, as "Authorization: Bearer" or in the cookie "access_token".',
  },
  access_token_invalid: {
    status: 403,
    meaning:
      'The access token is unknown, expired or revoked, or the request contains different tokens (`access_tokens`).',
    detail: 'The access token is not valid.',
  },
  scope_insufficient: {
    status: 403,
    meaning:
      'The access token does not permit this. `required` is the missing action, or the member of the scope or of the ' +
      'terms that is too narrow.',
    detail: 'The access token does not permit this request: it lacks "delete".',
    facts: { required: 'delete' },
  },
  access_token_limit_exceeded: {
    status: 403,
    meaning: 'The user already has the maximum number of valid access tokens.',
    detail: 'The user already has the maximum of 1000 valid access tokens.',
    facts: { max_access_tokens: 1000 },
  },
  capacity_exceeded: {
    status: 403,
    meaning: 'The file does not fit into the available capacity, or the share of its device.',
    detail: 'The file does not fit into the available capacity.',
    facts: {
      limit: 'account',
      capacity: 1000,
      used: 900,
      reserved: 0,
      requested: 200,
      available: 100,
    },
  },
  file_count_exceeded: {
    status: 403,
    meaning: 'The repository already contains the maximum number of files.',
    facts: { file_count: 100_000, max_files: 100_000 },
  },
  link_count_exceeded: {
    status: 403,
    meaning: 'The user already has the maximum number of links.',
    detail: 'The user already has the maximum of 1000 links.',
    facts: { max_links: 1000 },
  },
  link_limit_exceeded: {
    status: 403,
    meaning: 'The drop link takes no more files, or not so many bytes.',
    detail: 'This link takes no more files.',
  },
  link_password_invalid: {
    status: 403,
    meaning: 'The password of the link is wrong.',
  },
  user_suspended: {
    status: 403,
    meaning: 'The user of the access token is suspended.',
    detail: 'This user is suspended.',
  },
  operator_forbidden: {
    status: 403,
    meaning:
      'The role of the operator does not permit this. `required` is the least role that does.',
    detail: 'This needs an operator with the role "admin".',
    facts: { required: 'admin' },
  },
  operator_count_exceeded: {
    status: 403,
    meaning: 'There is already the maximum number of operators.',
    detail: 'There is already the maximum of 100 operators.',
    facts: { max_operators: 100 },
  },
  cross_site_request: {
    status: 403,
    meaning: 'A page on another site sent the request.',
    detail: 'Pages on other sites are not allowed to make changes.',
  },
  not_found: {
    status: 404,
    meaning: 'The resource does not exist, or the caller may not see it.',
    detail: 'The file was not found.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support the method. `Allow` lists the supported methods.',
    detail: 'This path supports only these methods: GET, HEAD.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request or its body did not arrive in time.',
    detail: 'The request did not arrive in time.',
  },
  file_exists: {
    status: 409,
    meaning: 'A file with this name already exists.',
  },
  user_exists: {
    status: 409,
    meaning: 'The deleted user with this id is still being purged.',
  },
  operator_exists: {
    status: 409,
    meaning: 'An operator with this name already exists.',
  },
  precondition_failed: {
    status: 412,
    meaning: 'A precondition (`If-Match`, `If-None-Match` or `If-Unmodified-Since`) does not hold.',
    detail: 'A precondition of the request does not hold.',
  },
  file_too_large: {
    status: 413,
    meaning: 'The file is larger than the maximum file size.',
    facts: { max_file_size: 5_368_709_120 },
  },
  request_head_too_large: {
    status: 431,
    meaning: 'The request head is larger than 16 KiB or has more than 200 headers.',
  },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The range contains no part of the file.',
    detail: "The range contains none of the file's 6143 bytes.",
    facts: { size: 6143 },
  },
  tus_version_unsupported: {
    status: 412,
    meaning: '`Tus-Resumable` is missing, or is not one of the versions in `Tus-Version`.',
    detail: 'The header Tus-Resumable must be 1.0.0.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The Content-Type of an append is not `application/offset+octet-stream`.',
    detail: 'The Content-Type must be application/offset+octet-stream.',
  },
  offset_mismatch: {
    status: 409,
    meaning: '`Upload-Offset` is not the current `offset` of the upload.',
    detail: 'The offset of the upload is 73400320.',
    facts: { offset: 73_400_320, provided_offset: 0 },
  },
  upload_gone: {
    status: 410,
    meaning: 'The upload has ended, with the given `outcome`.',
    detail: 'This upload was cancelled, or its content was refused. Create a new upload.',
    facts: { outcome: 'cancelled' },
  },
  version_gone: {
    status: 410,
    meaning:
      'The version has left the history: it has expired, was purged, or exceeded the allowance.',
    detail: 'This version has left the history.',
  },
  cursor_expired: {
    status: 410,
    meaning:
      'The changes after the cursor are no longer known. List the files again, and follow its `changes_cursor`.',
  },
  upload_length_exceeded: {
    status: 413,
    meaning: 'The body exceeds the length of the upload.',
    facts: { length: 1000 },
  },
  upload_busy: {
    status: 423,
    meaning: 'Another request is working on the upload. Try again after `retry_after` seconds.',
    detail: 'Another request is working on this upload.',
    facts: { retry_after: 5 },
  },
  checksum_mismatch: {
    status: 460,
    meaning: 'The body does not match `Upload-Checksum`. None of its bytes count.',
    detail: 'The body does not match the Upload-Checksum header.',
  },
  unfinished_uploads_exceeded: {
    status: 403,
    meaning:
      'The user has too many unfinished uploads, or their announced lengths exceed the capacity.',
    facts: { unfinished_count: 100, unfinished_bytes: 900, max_unfinished_uploads: 100 },
  },
  too_many_requests: {
    status: 429,
    meaning:
      'The address has sent too many wrong tokens, the user (without a token: the address) has too many uploads ' +
      'or downloads in progress, or too many replaced and deleted files of the user are still awaiting removal.',
    detail: 'This address has sent too many wrong tokens.',
    facts: { retry_after: 60 },
  },
  unauthorized: {
    status: 401,
    meaning: 'The bearer token of the admin API is missing or wrong, or its operator was removed.',
    detail: 'This request needs the bearer token of the admin API.',
  },
  link_password_required: {
    status: 401,
    meaning: 'The link has a password, which is missing or wrong.',
    detail: 'This link needs its password.',
  },
  internal_error: {
    status: 500,
    meaning: "An internal error occurred. The service's log has the cause under the request id.",
    detail:
      "An internal error occurred. To find the cause, search the service's log for this request id.",
  },
  webhook_failed: {
    status: 502,
    meaning:
      'The receiver of webhooks was not reached or did not accept the event, or none is configured.',
    detail: 'The receiver answered 500.',
  },
  unavailable: {
    status: 503,
    meaning:
      'The database, the object store or the identity provider does not respond, the object store does not find the ' +
      'content of the file, no memory is available for the upload, too many downloads are in progress, or the ' +
      'service is shutting down.',
    detail: 'The service is shutting down.',
  },
  insufficient_storage: {
    status: 503,
    meaning:
      'The disk is nearly full, so uploads are refused, then also other requests that store something. Files can be ' +
      'deleted. Nothing has changed.',
    detail: "The service's disk is nearly full, so uploads are refused.",
  },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof KINDS

/** The closed list of a problem's `code`s (docs/api.md), with all that the service and its documents say of each. */
export const ERROR_KINDS: Readonly<Record<ErrorCode, ErrorKind>> = KINDS

export const ERROR_CODES = Object.keys(KINDS) as readonly ErrorCode[]

/** The members that the examples have. */
export type ExampleFact = {
  [C in ErrorCode]: (typeof KINDS)[C] extends { readonly facts: infer F } ? keyof F : never
}[ErrorCode]
