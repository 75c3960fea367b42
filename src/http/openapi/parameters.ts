import { FILE_NAME_PATTERN, MAX_FILE_NAME_BYTES } from '../../core/files/file-name.ts'
import { USER_ID_PATTERN } from '../../core/users/user-id.ts'
import type { Schemas } from './operation.ts'

/** `maxLength` counts characters, of which 255 bytes hold at most 255. */
export const FILE_NAME_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_FILE_NAME_BYTES,
  pattern: FILE_NAME_PATTERN,
} as const

export const FILE_NAME = {
  ...FILE_NAME_SCHEMA,
  description:
    'The name of the file, percent-encoded: 1 to 255 bytes of UTF-8, any characters but `/`, `\\` and controls, not `.` or ' +
    '`..`. Compared byte by byte: no case folding, no normalisation.',
  examples: ['README.md'],
} as const

export const USER_ID = {
  type: 'string',
  pattern: USER_ID_PATTERN,
  description: 'The id of a user: 1 to 64 of `A-Z a-z 0-9 _ -`, and not `me`.',
  examples: ['alice'],
} as const

const ENTITY_TAGS = {
  type: 'string',
  pattern: '^(\\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$',
} as const

export const PRECONDITIONS = {
  'If-Match': {
    ...ENTITY_TAGS,
    description:
      'Only if the file is of one of these entity-tags, else 412; `*`: only if there is one.',
    examples: ['"019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a"'],
  },
  'If-None-Match': {
    ...ENTITY_TAGS,
    description:
      'Only if the file is of none of these entity-tags, else 412 (304 to a download); `*`: only if there is none.',
    examples: ['"019ab1c2-0000-7000-8000-000000000000"'],
  },
  'If-Unmodified-Since': {
    type: 'string',
    description:
      'Only if the file has not changed since, else 412. What is no HTTP date is no condition.',
    examples: ['Sat, 21 Nov 2026 12:00:00 GMT'],
  },
} as const satisfies Schemas
