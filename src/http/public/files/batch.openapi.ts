import { MAX_MATCHED, MAX_OPERATIONS } from '../../../core/files/operation.ts'
import { type Version, VERSION_PATTERN } from '../../../core/objects/object-key.ts'
import { described, type Json, withParsed } from '../../openapi/operation.ts'
import { FILE_NAME_SCHEMA, PREFIX_SCHEMA } from '../../openapi/parameters.ts'
import { OneOf, Text } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { type SeenFile, SeenFileReply } from '../../routes/files/file-resource.ts'
import { RemainingCapacity } from '../../routes/files/stored-file.ts'
import { type AskedTerms, PARSED_TERMS, TERMS } from './update.ts'

export const OPS = ['delete', 'rename', 'update', 'restore'] as const

interface Conditions {
  readonly if_match?: string
  readonly ignore_missing?: boolean
}

/** An operation as a request asks for it. */
export type AskedOperation = AskedByName | AskedByPrefix

export type AskedByName = Conditions & { readonly prefix?: undefined } & (
    | { readonly op: 'delete'; readonly name: string }
    | (AskedTerms & {
        readonly op: 'rename'
        readonly name: string
        readonly new_name: string
        readonly overwrite?: boolean
      })
    | (AskedTerms & { readonly op: 'update'; readonly name: string })
    | {
        readonly op: 'restore'
        readonly version: Version
        readonly new_name?: string
        readonly overwrite?: boolean
      }
  )

export type AskedByPrefix = Pick<Conditions, 'ignore_missing'> & { readonly prefix: string } & (
    | { readonly op: 'delete' }
    | { readonly op: 'rename'; readonly new_prefix: string; readonly overwrite?: boolean }
  )

const VERSION = {
  type: 'string',
  pattern: VERSION_PATTERN,
  description: 'The version of a replaced or deleted file, as in the history.',
}

const OVERWRITE = {
  type: 'boolean',
  description:
    'Whether to replace a file that has the new name. By default, the batch gets 409 when such a file exists.',
}

const CONDITIONS = {
  if_match: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description:
      'The etag, without its quotes, that the file must have, otherwise 412; `*` for any. For a restore, it is the etag ' +
      'of the current file with that name.',
  },
  ignore_missing: {
    type: 'boolean',
    description:
      'Whether to do nothing if there is no such file, version or folder. By default, the batch gets 404 or 410.',
  },
}

const NAME = { type: 'string', description: 'The name of the file.' }
const NEW_NAME = { type: 'string', description: 'The new name of the file.' }
const RESTORED = {
  type: 'string',
  description: 'The name of the restored file; by default, the one it had.',
}

const PREFIX = { type: 'string', description: 'What the names begin with, such as `photos/`.' }
const RENAMED_PREFIX = {
  type: 'string',
  description:
    'What the names begin with, such as `photos/`. If it is empty, it matches all files.',
}
const NEW_PREFIX = {
  type: 'string',
  description: 'What the names begin with afterwards. It may be empty.',
}

const { ignore_missing } = CONDITIONS

const DELETE = operation('delete', { name: NAME }, CONDITIONS)
const DELETE_PREFIX = operation(
  'delete',
  { prefix: { ...PREFIX, minLength: 1 } },
  { ignore_missing },
)
const RENAME = operation(
  'rename',
  { name: NAME, new_name: NEW_NAME },
  { overwrite: OVERWRITE, ...TERMS, ...CONDITIONS },
)
const RENAME_PREFIX = operation(
  'rename',
  { prefix: RENAMED_PREFIX, new_prefix: NEW_PREFIX },
  { overwrite: OVERWRITE, ignore_missing },
)
const UPDATE = operation('update', { name: NAME }, { ...TERMS, ...CONDITIONS })
const RESTORE = operation(
  'restore',
  { version: VERSION },
  { new_name: RESTORED, overwrite: OVERWRITE, ...CONDITIONS },
)

/** With the members that it needs, then those that it may have. */
function operation(op: AskedOperation['op'], required: Json, optional: Json) {
  const title = `${op[0]?.toUpperCase()}${op.slice(1)}`
  return {
    type: 'object',
    title: 'prefix' in required ? `${title}PrefixOperation` : `${title}Operation`,
    required: ['op', ...Object.keys(required)],
    properties: { op: { type: 'string', const: op }, ...required, ...optional },
    additionalProperties: false,
  }
}

const OPERATIONS = [DELETE, DELETE_PREFIX, RENAME, RENAME_PREFIX, UPDATE, RESTORE]

const BY_PREFIX = { required: ['prefix'] }

/** For the validator, which tells operations apart by `op` alone. */
const BY_OP = [
  orByPrefix(DELETE, DELETE_PREFIX),
  orByPrefix(RENAME, RENAME_PREFIX),
  UPDATE,
  RESTORE,
]

function orByPrefix(byName: typeof DELETE, byPrefix: typeof DELETE) {
  const { op } = byName.properties
  return {
    type: 'object',
    required: ['op'],
    properties: { op },
    allOf: [
      { if: BY_PREFIX, else: byName },
      { if: { not: BY_PREFIX }, else: byPrefix },
    ],
  }
}

const PARSED = {
  ...PARSED_TERMS,
  name: FILE_NAME_SCHEMA,
  new_name: FILE_NAME_SCHEMA,
  prefix: PREFIX_SCHEMA,
  new_prefix: PREFIX_SCHEMA,
}

const Body = Type.Object(
  {
    operations: Type.Array(
      Type.Unsafe<AskedOperation>({
        type: 'object',
        required: ['op'],
        discriminator: { propertyName: 'op' },
        oneOf: BY_OP,
      }),
      { minItems: 1, maxItems: MAX_OPERATIONS },
    ),
  },
  { additionalProperties: false },
)

const EXAMPLE = {
  operations: [
    { op: 'rename', name: 'save-1.tmp', new_name: 'world.dat', overwrite: true },
    { op: 'rename', name: 'save-2.tmp', new_name: 'player.dat', overwrite: true },
    { op: 'delete', name: 'journal', ignore_missing: true },
    { op: 'rename', prefix: 'photos/', new_prefix: 'archive/photos/' },
  ],
}

const RESULTS = [
  { op: 'delete', name: 'journal', file: null },
  {
    op: 'rename',
    name: null,
    file: null,
    prefix: 'photos/',
    new_prefix: 'archive/photos/',
    matched: 37,
  },
]

const Result = Type.Object(
  {
    op: { ...OneOf(OPS, 'As in the operation.'), examples: ['rename'] },
    name: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      examples: ['README.tmp'],
      description:
        'The `name` of the operation, `null` if it has a prefix; for a restore, the name of the restored file, or ' +
        '`null` if the version was missing and the operation has no `new_name`.',
    }),
    prefix: Type.Optional(Text('The `prefix` of the operation.', 'photos/')),
    new_prefix: Type.Optional(Text('The `new_prefix` of the operation.', 'archive/photos/')),
    matched: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The number of files whose names began with the prefix.',
        examples: [37],
      }),
    ),
    file: Type.Unsafe<SeenFile | null>({
      ...SeenFileReply,
      type: ['object', 'null'],
      title: 'FileAfterOperation',
      description:
        'The file right after the operation; `null` if it is deleted, or was missing, and for an operation by prefix. ' +
        'A token that may not `read` the file gets `name` and `user_id` alone.',
    }),
  },
  { title: 'OperationResult' },
)

const Reply = Type.Object(
  { results: Type.Array(Result), capacity: Type.Optional(RemainingCapacity) },
  {
    title: 'BatchResult',
    description:
      'What each operation has done, in their order, and, for a token with `read`, the capacity after all of them.',
  },
)

export const BATCH = described({
  operationId: 'runBatch',
  summary: "Delete, rename, change and restore several of the caller's files at once",
  description:
    `1 to ${MAX_OPERATIONS} operations, in order, in one transaction: all or nothing. Each operation sees the result ` +
    'of those before it. Only the final state must fit the capacity and the number of files. A refusal has the index of ' +
    'the refused operation as `operation`. An operation by prefix counts as many as the files that it matches: if there ' +
    `are more than ${MAX_OPERATIONS} in all, the batch gets 400 with \`matched\`, exact up to ${MAX_MATCHED}. The body is ` +
    'JSON in UTF-8 of at most 1 MiB.',
  tag: 'files',
  body: Body,
  json: { maxBytes: 2 ** 20 },
  jsonBody: {
    type: 'object',
    title: 'Batch',
    required: ['operations'],
    properties: {
      operations: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_OPERATIONS,
        items: { oneOf: OPERATIONS.map((each) => withParsed(each, PARSED)) },
      },
    },
    additionalProperties: false,
    examples: [EXAMPLE],
  },
  response: { 200: Reply },
  responses: {
    200: { description: 'All operations have been done.', example: { results: RESULTS } },
  },
  problems: [
    'invalid_file_name',
    'not_found',
    'version_gone',
    'file_exists',
    'precondition_failed',
    'capacity_exceeded',
    'file_count_exceeded',
  ],
})
