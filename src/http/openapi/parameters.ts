import type { Parameter } from './operation.ts'

/** What is 255 bytes of UTF-8 in JSON Schema's terms, which counts characters: never more of them. */
export const FILE_NAME_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^(?!\\.{1,2}$)[^/\\\\\\u0000-\\u001f\\u007f]+$',
} as const

export const FILE_NAME: Parameter = {
  name: 'file_name',
  in: 'path',
  description:
    'The name of the file, percent-encoded: 1 to 255 bytes of UTF-8, any characters but `/`, `\\` and controls, not `.` or ' +
    '`..`. Compared byte by byte: no case folding, no normalisation.',
  schema: FILE_NAME_SCHEMA,
  example: 'README.md',
}

export const USER_ID: Parameter = {
  name: 'user_id',
  in: 'path',
  description: 'The id of a user: 1 to 64 of `A-Z a-z 0-9 _ -`, and not `me`.',
  schema: { type: 'string', pattern: '^(?!me$)[A-Za-z0-9_-]{1,64}$' },
  example: 'alice',
}

export const LIMIT: Parameter = {
  name: 'limit',
  in: 'query',
  description: 'How many entries a page has at most.',
  schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
}

export const CURSOR: Parameter = {
  name: 'cursor',
  in: 'query',
  description: 'The `next_cursor` of the page before; the first page without.',
  schema: { type: 'string' },
}

const ENTITY_TAGS = '^(\\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$'

/** What has to hold for a request to be carried out (RFC 9110 section 13). */
export const PRECONDITIONS: readonly Parameter[] = [
  {
    name: 'If-Match',
    in: 'header',
    description:
      'Only if the file is of one of these entity-tags, else 412; `*`: only if there is one.',
    schema: { type: 'string', pattern: ENTITY_TAGS },
    example: '"019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a"',
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description:
      'Only if the file is of none of these entity-tags, else 412 (304 to a download); `*`: only if there is none.',
    schema: { type: 'string', pattern: ENTITY_TAGS },
    example: '"019ab1c2-0000-7000-8000-000000000000"',
  },
  {
    name: 'If-Unmodified-Since',
    in: 'header',
    description:
      'Only if the file has not changed since, else 412. What is no HTTP date is no condition.',
    schema: { type: 'string' },
    example: 'Sat, 21 Nov 2026 12:00:00 GMT',
  },
]
