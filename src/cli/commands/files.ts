import { invalidParameter } from '../../core/errors.ts'
import { type File, NEVER } from '../../core/files/file.ts'
import {
  type FileNamePrefix,
  parseFileName,
  parseFileNamePrefix,
} from '../../core/files/file-name.ts'
import {
  commonPrefixOf,
  FILE_ORDERS,
  type FileOrder,
  type FilePosition,
  type Listing,
  parseContains,
  parseDelimiter,
} from '../../core/files/listing.ts'
import { MAX_PAGE_LIMIT, parsePageLimit } from '../../core/pagination.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import { type Command, userIdOf } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const FILES: readonly Command[] = [
  {
    words: ['files', 'list'],
    operands: ['<user_id>'],
    flags: ['prefix', 'contains', 'delimiter', 'order', 'after', 'limit'],
    summary: `list the files of a user, also of a suspended one (--order ${FILE_ORDERS.join(', ')})`,
    run: async ({ fileAdministration }, { operands, flags, printError }) => {
      const order = orderIn(flags)
      const prefix = parseFileNamePrefix(flags['prefix'] ?? '')
      const delimiter = parseDelimiter(flags['delimiter'], order)
      const rollUp = delimiter === undefined ? undefined : { delimiter, prefix }
      const { files, prefixes, next } = await fileAdministration.list({
        userId: userIdOf(operands),
        prefix,
        contains: parseContains(flags['contains']),
        rollUp,
        order,
        after: placeIn(flags, { order, rollUp }),
        limit: parsePageLimit(flags['limit']),
      })
      if (next !== undefined) printError(adviceOn(next, order))
      return [...prefixes.map(prefixRow), ...files.map(fileRow)]
    },
  },
  {
    words: ['files', 'delete'],
    operands: ['<user_id>', '<file_name>'],
    summary: 'delete a file of a user, also of a suspended one; it becomes history',
    run: async ({ fileAdministration }, { operands }) => {
      const name = parseFileName(operands[1] ?? '')
      await fileAdministration.remove({ userId: userIdOf(operands), name })
      return undefined
    },
  },
]

type Flags = Readonly<Record<string, string>>

function orderIn({ order: text = 'name' }: Flags): FileOrder {
  const order = FILE_ORDERS.find((known) => known === text)
  if (order !== undefined) return order
  throw invalidParameter('order', `order must be one of ${FILE_ORDERS.join(', ')}.`)
}

function isByName(order: FileOrder): boolean {
  return order === 'name' || order === '-name'
}

/** After a name or, with a delimiter, after all names that have its common prefix. */
function placeIn(
  { after }: Flags,
  { order, rollUp }: Pick<Listing, 'order' | 'rollUp'>,
): FilePosition | undefined {
  if (after === undefined) return undefined
  if (!isByName(order)) throw invalidParameter('after', 'after needs an order by name.')
  const common = commonPrefixOf(parseFileNamePrefix(after), { rollUp })
  return common === undefined
    ? { name: parseFileName(after), value: 0 }
    : { name: common, value: 0, isPrefix: true }
}

function adviceOn({ name }: FilePosition, order: FileOrder): string {
  return isByName(order)
    ? `There are more files; continue with --after ${name}`
    : `There are more files; --limit takes up to ${MAX_PAGE_LIMIT}, or list them by name.`
}

function fileRow(file: File): Row {
  return {
    file_name: file.name,
    size: new Bytes(file.size),
    visibility: file.visibility,
    version: file.version,
    updated_at: formatTimestamp(file.updatedAt),
    expires_at: file.expiresAt < NEVER ? formatTimestamp(file.expiresAt) : null,
  }
}

function prefixRow(prefix: FileNamePrefix): Row {
  return {
    file_name: prefix,
    size: null,
    visibility: null,
    version: null,
    updated_at: null,
    expires_at: null,
  }
}
