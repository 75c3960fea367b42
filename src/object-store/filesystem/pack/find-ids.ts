import { closeSync, openSync, readSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { hasCode, MISSING } from '../fsync-directory.ts'
import { unlessDamaged } from './pack-file.ts'

/** Formats: sqlite.org/fileformat.html, sections 1.3, 1.6 and 4.1. */
const HEADER_BYTES = 100
const PAGE_SIZE_AT = 16
const TABLE_LEAF = 13
const LEAF_HEADER_BYTES = 8
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

const IDS_PER_PAGE = 200

/**
 * Yields the ids of all rows that SQLite can read, a few at a time, for a pack whose index is damaged. Calls `onDamage`
 * if the table is damaged too: then some rows may be lost, ids can repeat, and some have no row.
 */
export function* findIds(
  pack: DatabaseSync,
  { file, onDamage }: { readonly file: string; readonly onDamage: (reason: Error) => void },
): Generator<readonly number[], void> {
  const ids = pack.prepare('SELECT id FROM objects WHERE id > ? ORDER BY id LIMIT ?')
  let last = 0
  for (;;) {
    const page = unlessDamaged<readonly number[] | undefined>(
      () => ids.all(last, IDS_PER_PAGE).map(({ id }) => Number(id)),
      (reason) => {
        onDamage(reason)
        return undefined
      },
    )
    if (page === undefined) break
    yield page
    last = page.at(-1) ?? last
    if (page.length < IDS_PER_PAGE) return
  }
  for (const page of scanLeaves(file)) yield page.filter((id) => id > last)
}

/**
 * Yields the ids on every table leaf page of the file and of its log, without the pages that lead to them. Pages that
 * are no longer in use, and content that looks like a page, have ids without a row.
 */
function* scanLeaves(file: string): Generator<readonly number[], void> {
  const pageBytes = pageSizeOf(file)
  yield* idsOfPages(file, { first: 0, gap: 0, pageBytes })
  yield* idsOfPages(`${file}-wal`, { first: LOG_HEADER_BYTES, gap: FRAME_HEADER_BYTES, pageBytes })
}

interface Pages {
  readonly first: number
  /** Bytes before each page. */
  readonly gap: number
  readonly pageBytes: number
}

function* idsOfPages(path: string, { first, gap, pageBytes }: Pages): Generator<readonly number[]> {
  const descriptor = openIfThere(path)
  if (descriptor === undefined) return
  try {
    const page = Buffer.alloc(pageBytes)
    for (let at = first + gap; readSync(descriptor, page, 0, pageBytes, at) === pageBytes;) {
      const ids = page[0] === TABLE_LEAF ? idsOn(page) : []
      if (ids.length > 0) yield ids
      at += pageBytes + gap
    }
  } finally {
    closeSync(descriptor)
  }
}

function idsOn(page: Buffer): readonly number[] {
  const cells = page.readUInt16BE(3)
  const ids = new Set<number>()
  for (let cell = 0; cell < cells; cell++) {
    const pointer = LEAF_HEADER_BYTES + 2 * cell
    if (pointer + 2 > page.length) break
    // A cell begins with the size of the row, then has its id.
    const size = varintAt(page, page.readUInt16BE(pointer))
    const id = size && varintAt(page, size.end)
    if (id !== undefined && Number.isSafeInteger(id.value)) ids.add(id.value)
  }
  return [...ids]
}

interface Varint {
  readonly value: number
  readonly end: number
}

/** At most eight bytes: a ninth is used only by ids that no pack reaches. */
function varintAt(page: Buffer, start: number): Varint | undefined {
  let value = 0
  for (let at = start; at < start + 8; at++) {
    const byte = page[at]
    if (byte === undefined) return undefined
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + 1 }
  }
  return undefined
}

function pageSizeOf(file: string): number {
  const descriptor = openSync(file, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(descriptor, header, 0, HEADER_BYTES, 0)
    const size = header.readUInt16BE(PAGE_SIZE_AT)
    return size === 1 ? 65_536 : Math.max(size, 512)
  } finally {
    closeSync(descriptor)
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, MISSING)) return undefined
    throw error
  }
}
