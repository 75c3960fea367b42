import { invalidParameter } from '../errors.ts'
import type { File } from './file.ts'
import { type FileName, type FileNamePrefix, parseNamePart } from './file-name.ts'
import type { UserId } from '../users/user-id.ts'

/** `-` is descending. Names compare bytewise; ties are ordered by name in the same direction. */
export const FILE_ORDERS = ['name', '-name', 'updated_at', '-updated_at', 'size', '-size'] as const

export type FileOrder = (typeof FILE_ORDERS)[number]

/** The position right after a file as it was listed, even if it has changed since, or after all names of a prefix. */
export type FilePosition = AfterFile | AfterPrefix

interface AfterFile {
  readonly name: FileName
  /** The sort key: milliseconds or bytes, 0 when ordered by name. */
  readonly value: number
  readonly isPrefix?: undefined
}

/** Only when ordered by name. */
interface AfterPrefix {
  readonly name: FileNamePrefix
  readonly value: 0
  readonly isPrefix: true
}

/** Rolls names up to common prefixes, as S3 does. */
export interface RollUp {
  /** One character. */
  readonly delimiter: string
  /** Names end at the first delimiter after this prefix, which all listed names have. */
  readonly prefix: FileNamePrefix
}

/** A page of a user's files. */
export interface Listing {
  readonly userId: UserId
  readonly prefix: FileNamePrefix
  /** Only names that contain this text, in any case. See `containsText`. */
  readonly contains?: string | undefined
  /** Only files of this device. */
  readonly deviceId?: string | undefined
  /** Only with an order by name. */
  readonly rollUp?: RollUp | undefined
  /** Whether to count the files below each common prefix. Only with `rollUp`, and without `contains`. */
  readonly countsFolders?: boolean | undefined
  /** Whether not even a position may tell anything of other files than those with the prefix. */
  readonly hidesOthers?: boolean | undefined
  readonly order: FileOrder
  readonly after: FilePosition | undefined
  /** The maximum number of files and common prefixes together. */
  readonly limit: number
}

/**
 * What a listing found, in its order. It can end before the page is full, and even without an entry, if it has read as
 * many files as it may.
 */
export interface ListedFiles {
  readonly files: readonly File[]
  /** The common prefixes, each with its delimiter. */
  readonly prefixes: readonly FileNamePrefix[]
  /** Of each common prefix, if they are counted; `undefined` beyond `MAX_FOLDER_FILES` and `MAX_COUNTED_FILES`. */
  readonly totals?: readonly (FolderTotals | undefined)[] | undefined
  /** Where the next page continues; `undefined` on the last page. */
  readonly next: FilePosition | undefined
}

/** The files with a common prefix that the listing would show. */
export interface FolderTotals {
  /** Without markers. */
  readonly fileCount: number
  /** Of their contents, in bytes. */
  readonly size: number
}

/** The files with one common prefix that are counted. */
export const MAX_FOLDER_FILES = 1_000

/** The files that are counted for one page. */
export const MAX_COUNTED_FILES = 10_000

/** Bounds what one request costs, whatever its parameters. */
export const MAX_SCANNED_FILES = 2_000

/** The owner sees all files, other viewers those that they may download. */
export type Audience = 'owner' | 'users' | 'anyone'

/** As the owner, an operator sees all files, but also those of a suspended user. */
export type ListAudience = Audience | 'operator'

export function positionOf(file: File, order: FileOrder): FilePosition {
  const values = { name: 0, updated_at: file.updatedAt, size: file.size }
  return { name: file.name, value: values[order.replace('-', '') as keyof typeof values] }
}

/** What the listing shows in place of the name; `undefined` if it shows the file. */
export function commonPrefixOf(
  name: string,
  { rollUp }: Pick<Listing, 'rollUp'>,
): FileNamePrefix | undefined {
  if (rollUp === undefined) return undefined
  const at = name.indexOf(rollUp.delimiter, rollUp.prefix.length)
  return at < 0 ? undefined : (name.slice(0, at + rollUp.delimiter.length) as FileNamePrefix)
}

/**
 * Returns whether a name contains the text in any case, however both are composed. It runs in the service, because
 * `lower` of SQLite knows ASCII only, and that of PostgreSQL depends on the locale.
 */
export function containsText(text: string): (name: string) => boolean {
  const wanted = folded(text)
  return (name) => folded(name).includes(wanted)
}

/**
 * Unicode lower case in the form NFC, since the same text can be composed or not: macOS decomposes names. With one sigma:
 * by its place in a word, JavaScript gives another one.
 */
function folded(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}

/** Throws `invalid_parameter` for a text that no name can contain. Empty is as if it was left out. */
export function parseContains(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : parseNamePart(text, 'contains')
}

/** Throws `invalid_parameter` (`delimiter`) unless it is one character that a name can contain, in an order by name. */
export function parseDelimiter(text: string | undefined, order: FileOrder): string | undefined {
  if (text === undefined) return undefined
  if (Array.from(text).length !== 1) {
    throw invalidParameter('delimiter', 'delimiter must be one character.')
  }
  if (order === 'name' || order === '-name') return parseNamePart(text, 'delimiter')
  throw invalidParameter('delimiter', 'A listing with a delimiter is ordered by name.')
}
