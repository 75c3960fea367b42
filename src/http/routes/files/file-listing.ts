import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import {
  CHARACTER_PATTERN,
  FILE_NAME_PART_PATTERN,
  type FileNamePrefix,
  MAX_FILE_NAME_BYTES,
  parseFileName,
  parseFileNamePrefix,
} from '../../../core/files/file-name.ts'
import {
  FILE_ORDERS,
  type FileOrder,
  type FilePosition,
  type ListedFiles,
  MAX_SCANNED_FILES,
  parseContains,
  MAX_COUNTED_FILES,
  MAX_FOLDER_FILES,
  parseDelimiter,
  type RollUp,
} from '../../../core/files/listing.ts'
import { invalidParameter } from '../../../core/errors.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import { REFERENCE_PATTERN } from '../../../core/quota/grants.ts'
import { Prefix, Query } from '../../openapi/parameters.ts'
import { Text } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { assertQueryDecodable } from '../../server/query.ts'
import { FileReply, fileReply } from './file-resource.ts'
import { formatCursor, type Key, PAGE_QUERY, parseCursor } from '../pagination.ts'

export const LISTING_QUERY = Query({
  prefix: Prefix(
    'The prefix of the file names, such as a folder with its slash. Names are compared byte by byte.',
    'photos/',
  ),
  contains: Type.Optional(
    Type.String({
      maxLength: MAX_FILE_NAME_BYTES,
      pattern: FILE_NAME_PART_PATTERN,
      description:
        'A part of the file names, in any case. Compared by Unicode lower case, in the form NFC.',
      examples: ['readme'],
    }),
  ),
  device_id: Type.Optional(
    Type.String({
      pattern: REFERENCE_PATTERN,
      description:
        "Only files that this device has stored. Other users' files show no device, so none of them matches.",
      examples: ['camera-17'],
    }),
  ),
  delimiter: Type.Optional(
    Type.String({
      pattern: CHARACTER_PATTERN,
      description:
        'One character. Names that contain it after the prefix are rolled up to `prefixes`, each up to and including ' +
        'the character. Only with an order by name.',
      examples: ['/'],
    }),
  ),
  order: Type.Optional(
    Type.Unsafe<FileOrder>({
      type: 'string',
      enum: FILE_ORDERS,
      default: 'name',
      description:
        'The sort order. `name` sorts bytewise. A leading `-` sorts in descending order.',
    }),
  ),
  folder_totals: Type.Optional(
    Type.Unsafe<'true' | 'false'>({
      type: 'string',
      enum: ['true', 'false'],
      default: 'false',
      description:
        'Whether to count the files below each prefix, for `folders`. Only with `delimiter`, and not with `contains`.',
    }),
  ),
  ...PAGE_QUERY.properties,
})

export const LISTING_MEMBERS = {
  files: Type.Array(FileReply),
  prefixes: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'With `delimiter`: the prefixes that names are rolled up to, in the same order. `limit` counts files and ' +
        'prefixes together.',
      examples: [['photos/2026/']],
    }),
  ),
  folders: Type.Optional(
    Type.Array(
      Type.Object(
        {
          prefix: Text('As in `prefixes`.', 'photos/2026/'),
          file_count: Type.Unsafe<number | null>({
            type: ['integer', 'null'],
            minimum: 0,
            description:
              `The number of files below, without markers; \`null\` if there are more than ${MAX_FOLDER_FILES}, or if ` +
              `the page has counted ${MAX_COUNTED_FILES}.`,
            examples: [37],
          }),
          size: Type.Unsafe<number | null>({
            type: ['integer', 'null'],
            minimum: 0,
            description: 'The sum of their sizes, in bytes; `null` if `file_count` is.',
            examples: [52_428_800],
          }),
        },
        { title: 'Folder' },
      ),
      { description: 'With `folder_totals`: what is below each of `prefixes`, in their order.' },
    ),
  ),
}

export const SHORT_PAGES =
  'A page can have fewer entries than `limit`, or none, and still ' +
  `a \`next_cursor\`: a request reads at most ${MAX_SCANNED_FILES} rows of an index. Only \`null\` ends the listing.`

/** The part of a `Listing` that a request asks for. */
export interface AskedListing {
  readonly prefix: FileNamePrefix
  readonly contains: string | undefined
  readonly deviceId: string | undefined
  readonly rollUp: RollUp | undefined
  readonly countsFolders: boolean
  readonly order: FileOrder
  readonly after: FilePosition | undefined
  readonly limit: number
}

/** Throws `invalid_parameter`. */
export function askedListing(request: FastifyRequest): AskedListing {
  const query = request.query as Static<typeof LISTING_QUERY>
  const { order = 'name', limit = DEFAULT_PAGE_LIMIT, cursor } = query
  const countsFolders = query.folder_totals === 'true'
  const delimiter = parseDelimiter(query.delimiter, order)
  const after = cursor === undefined ? undefined : parseCursor(cursor, (key) => placeOf(key, order))
  assertQueryDecodable(request)
  const prefix = parseFileNamePrefix(query.prefix ?? '')
  const rollUp = delimiter === undefined ? undefined : { delimiter, prefix }
  const contains = parseContains(query.contains)
  if (countsFolders && (rollUp === undefined || contains !== undefined)) {
    const detail = 'folder_totals needs a delimiter, and cannot be combined with contains.'
    throw invalidParameter('folder_totals', detail)
  }
  const { device_id: deviceId } = query
  return { prefix, contains, deviceId, rollUp, countsFolders, order, after, limit }
}

export function listingReply(
  { files, prefixes, totals, next }: ListedFiles,
  { rollUp, order }: AskedListing,
) {
  return {
    files: files.map(fileReply),
    ...(rollUp !== undefined && { prefixes: [...prefixes] }),
    ...(totals !== undefined && {
      folders: prefixes.map((prefix, at) => {
        const { fileCount = null, size = null } = totals[at] ?? {}
        return { prefix, file_count: fileCount, size }
      }),
    }),
    next_cursor: next === undefined ? null : formatCursor(keyOf(next, order)),
  }
}

/** A cursor is valid only for the order of its listing. */
function keyOf({ value, name, isPrefix }: FilePosition, order: FileOrder): Key {
  return isPrefix === true ? [order, value, name, AFTER_PREFIX] : [order, value, name]
}

function placeOf(
  [forOrder, value, name, ...more]: Key,
  order: FileOrder,
): FilePosition | undefined {
  if (forOrder !== order || typeof value !== 'number' || typeof name !== 'string') return undefined
  if (more.length === 0) return { value, name: parseFileName(name) }
  const isAfterPrefix = more.length === 1 && more[0] === AFTER_PREFIX && value === 0 && name !== ''
  if (!isAfterPrefix || !order.endsWith('name')) return undefined
  return { value, name: parseFileNamePrefix(name), isPrefix: true }
}

const AFTER_PREFIX = 'prefix'
