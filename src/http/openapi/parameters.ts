import type { FastifyInstance } from 'fastify'
import type { TObject, TProperties } from 'typebox'
import {
  FILE_NAME_PATTERN,
  FILE_NAME_PREFIX_PATTERN,
  MAX_FILE_NAME_BYTES,
} from '../../core/files/file-name.ts'
import { USER_ID_PATTERN } from '../../core/users/user-id.ts'
import { addRouteHook } from '../body/route-hooks.ts'
import type { Schemas } from './operation.ts'
import { Type } from './type.ts'

/** `maxLength` counts characters, of which a name has at most as many as bytes. */
export const FILE_NAME_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_FILE_NAME_BYTES,
  pattern: FILE_NAME_PATTERN,
} as const

/** As `FILE_NAME_SCHEMA`, of a prefix. */
export const PREFIX_SCHEMA = {
  type: 'string',
  maxLength: MAX_FILE_NAME_BYTES,
  pattern: FILE_NAME_PREFIX_PATTERN,
} as const

/** A query with these parameters and no others. */
export function Query<P extends TProperties>(parameters: P) {
  return Type.Object(parameters, { additionalProperties: false })
}

/** Makes routes read decimal text as a number in a query whose schema has integers. The schema refuses any other text. */
export function readIntegers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { querystring } = (route.schema ?? {}) as { readonly querystring?: TObject }
    const names = Object.entries(querystring?.properties ?? {})
      .filter(([, { type }]: [string, { readonly type?: unknown }]) => type === 'integer')
      .map(([name]) => name)
    if (names.length === 0) return
    addRouteHook(route, 'preValidation', ({ query }, _reply, done) => {
      const parameters = query as Record<string, unknown>
      for (const name of names) {
        const text = parameters[name]
        if (typeof text === 'string' && DECIMAL.test(text)) parameters[name] = Number(text)
      }
      done()
    })
  })
}

const DECIMAL = /^(0|[1-9]\d{0,8})$/

/** A prefix of file names. */
export function Prefix(description: string, example?: string) {
  const examples = example === undefined ? {} : { examples: [example] }
  return Type.Optional(Type.String({ ...PREFIX_SCHEMA, description, ...examples }))
}

export const FILE_NAME = {
  ...FILE_NAME_SCHEMA,
  description:
    'The percent-encoded file name: 1 to 1,024 bytes of UTF-8 in segments of at most 255 bytes, joined by `/` or `%2F`. ' +
    'No segment is empty, `.` or `..`, or has `\\` or control characters. A name that ends in `/` is that of a folder, ' +
    'kept by a file without content. Names are compared byte by byte, without case folding or normalization.',
  examples: ['README.md'],
} as const

export const USER_ID = {
  type: 'string',
  pattern: USER_ID_PATTERN,
  description: 'A user id has 1 to 64 characters from `A-Z a-z 0-9 _ -` and is not `me`.',
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
      'Succeeds only if the file has one of these entity tags, otherwise 412. `*` requires that the file exists.',
    examples: ['"019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a"'],
  },
  'If-None-Match': {
    ...ENTITY_TAGS,
    description:
      'Succeeds only if the file has none of these entity tags, otherwise 412 (304 for a download). `*` requires ' +
      'that the file does not exist.',
    examples: ['"019ab1c2-0000-7000-8000-000000000000"'],
  },
  'If-Unmodified-Since': {
    type: 'string',
    description:
      'Succeeds only if the file has not changed since this time, otherwise 412. A value that is not an HTTP date ' +
      'is ignored.',
    examples: ['Sat, 21 Nov 2026 12:00:00 GMT'],
  },
} as const satisfies Schemas
