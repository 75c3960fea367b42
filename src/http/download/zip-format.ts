/**
 * The records of a ZIP archive without compression, as PKWARE's APPNOTE.TXT 6.3.10 has them (section numbers below).
 * The local header of an entry has its size and CRC-32, so that a reader needs neither a data descriptor nor the central
 * directory. ZIP64 is used where a field cannot hold its value, and nowhere else.
 */

export interface ZipEntry {
  /** With slashes; a directory ends in one, and has no content. */
  readonly name: string
  readonly size: number
  readonly crc32: number
  /** Milliseconds since 1970. */
  readonly updatedAt: number
}

/** 4.3.7 */
export function localHeader(entry: ZipEntry): Buffer {
  const isLarge = needsZip64(entry.size)
  const extra = [isLarge ? zip64Extra(entry.size, entry.size) : NONE, timeExtra(entry)]
  const head = Buffer.alloc(LOCAL_BYTES)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(isLarge ? ZIP64_VERSION : VERSION, 4)
  describe(entry, head.subarray(6), extra)
  return Buffer.concat([head, Buffer.from(entry.name), ...extra])
}

/** 4.3.12, for an entry whose local header begins at the offset. */
export function centralHeader(entry: ZipEntry, offset: number): Buffer {
  const zip64 = zip64Extra(...zip64Values(entry, offset))
  const extra = [zip64, timeExtra(entry)]
  const head = Buffer.alloc(CENTRAL_BYTES)
  head.writeUInt32LE(0x02014b50, 0)
  head.writeUInt16LE(MADE_BY, 4)
  head.writeUInt16LE(zip64.length > 0 ? ZIP64_VERSION : VERSION, 6)
  describe(entry, head.subarray(8), extra)
  head.writeUInt32LE(entry.name.endsWith('/') ? DIRECTORY : REGULAR_FILE, 38)
  head.writeUInt32LE(Math.min(offset, MAX_32), 42)
  return Buffer.concat([head, Buffer.from(entry.name), ...extra])
}

interface CentralDirectory {
  readonly entries: number
  /** Where it begins. */
  readonly offset: number
  readonly bytes: number
}

/** 4.3.14 to 4.3.16: what follows the central directory. */
export function endOfArchive({ entries, offset, bytes }: CentralDirectory): Buffer {
  const end = Buffer.alloc(END_BYTES)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(entries, MAX_16), 8)
  end.writeUInt16LE(Math.min(entries, MAX_16), 10)
  end.writeUInt32LE(Math.min(bytes, MAX_32), 12)
  end.writeUInt32LE(Math.min(offset, MAX_32), 16)
  if (!endsWithZip64({ entries, offset, bytes })) return end
  const zip64 = Buffer.alloc(ZIP64_END_BYTES)
  zip64.writeUInt32LE(0x06064b50, 0)
  zip64.writeBigUInt64LE(44n, 4)
  zip64.writeUInt16LE(MADE_BY, 12)
  zip64.writeUInt16LE(ZIP64_VERSION, 14)
  const values = [entries, entries, bytes, offset]
  for (const [at, value] of values.entries()) zip64.writeBigUInt64LE(BigInt(value), 24 + 8 * at)
  zip64.writeUInt32LE(0x07064b50, 56)
  zip64.writeBigUInt64LE(BigInt(offset + bytes), 64)
  zip64.writeUInt32LE(1, 72)
  return Buffer.concat([zip64, end])
}

/** What the records of an archive and its contents have together. */
export function zipLength(entries: readonly ZipEntry[]): number {
  let offset = 0
  let bytes = 0
  for (const entry of entries) {
    bytes += centralBytes(entry, offset)
    offset += localBytes(entry) + entry.size
  }
  const end = { entries: entries.length, offset, bytes }
  return offset + bytes + (endsWithZip64(end) ? ZIP64_END_BYTES : 0) + END_BYTES
}

/** The length of `localHeader`. */
export function localBytes(entry: ZipEntry): number {
  return LOCAL_BYTES + namedBytes(entry) + (needsZip64(entry.size) ? 20 : 0)
}

function centralBytes(entry: ZipEntry, offset: number): number {
  const { length } = zip64Values(entry, offset)
  return CENTRAL_BYTES + namedBytes(entry) + (length > 0 ? 4 + 8 * length : 0)
}

function namedBytes(entry: ZipEntry): number {
  return Buffer.byteLength(entry.name) + timeExtra(entry).length
}

const LOCAL_BYTES = 30
const CENTRAL_BYTES = 46
const END_BYTES = 22
/** With the locator. */
const ZIP64_END_BYTES = 56 + 20

const MAX_16 = 0xffff
const MAX_32 = 0xffff_ffff
/** The largest value stands for a larger one (4.4.1.4). */
const needsZip64 = (value: number): boolean => value >= MAX_32

/** 4.4.3.2: a directory needs 2.0, ZIP64 4.5. */
const VERSION = 20
const ZIP64_VERSION = 45
/** 4.4.2: Unix, so the upper half of the external attributes is a mode. */
const MADE_BY = (3 << 8) | ZIP64_VERSION
const REGULAR_FILE = 0o100644 * 0x1_0000
/** With the bit of MS-DOS for a directory. */
const DIRECTORY = 0o040755 * 0x1_0000 + 0x10
/** 4.4.4, bit 11. */
const IS_UTF8 = 0x0800

/** What both headers have from their flags to the lengths (4.4.4 to 4.4.11). */
function describe(entry: ZipEntry, fields: Buffer, extra: readonly Buffer[]): void {
  const { name, size, crc32, updatedAt } = entry
  const [time, date] = dosTime(updatedAt)
  fields.writeUInt16LE(IS_UTF8, 0)
  fields.writeUInt16LE(time, 4)
  fields.writeUInt16LE(date, 6)
  fields.writeUInt32LE(crc32, 8)
  fields.writeUInt32LE(Math.min(size, MAX_32), 12)
  fields.writeUInt32LE(Math.min(size, MAX_32), 16)
  fields.writeUInt16LE(Buffer.byteLength(name), 20)
  fields.writeUInt16LE(
    extra.reduce((sum, { length }) => sum + length, 0),
    22,
  )
}

/** 4.4.6: in this machine's zone. Others would be taken modulo 128 years. */
function dosTime(updatedAt: number): readonly [time: number, date: number] {
  const at = new Date(Math.min(Math.max(updatedAt, FIRST.getTime()), LAST.getTime()))
  return [
    (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1),
    ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(),
  ]
}

const FIRST = new Date(1980, 0, 1)
const LAST = new Date(2107, 11, 31, 23, 59, 58)

/** 4.5.3: what the central header cannot hold, in this order. */
function zip64Values({ size }: ZipEntry, offset: number): readonly number[] {
  const sizes = needsZip64(size) ? [size, size] : []
  return needsZip64(offset) ? [...sizes, offset] : sizes
}

function zip64Extra(...values: readonly number[]): Buffer {
  if (values.length === 0) return NONE
  const extra = Buffer.alloc(4 + 8 * values.length)
  extra.writeUInt16LE(0x0001, 0)
  extra.writeUInt16LE(8 * values.length, 2)
  for (const [at, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * at)
  return extra
}

const NONE = Buffer.alloc(0)

/** Info-ZIP's extended timestamp (proginfo/extrafld.txt): in UTC, in signed 32 bits. */
function timeExtra({ updatedAt }: ZipEntry): Buffer {
  const seconds = Math.floor(updatedAt / 1000)
  if (seconds < -(2 ** 31) || seconds >= 2 ** 31) return NONE
  const extra = Buffer.alloc(9)
  extra.writeUInt16LE(0x5455, 0)
  extra.writeUInt16LE(5, 2)
  extra.writeUInt8(1, 4)
  extra.writeInt32LE(seconds, 5)
  return extra
}

function endsWithZip64({ entries, offset, bytes }: CentralDirectory): boolean {
  return entries > MAX_16 || needsZip64(offset) || needsZip64(bytes)
}
