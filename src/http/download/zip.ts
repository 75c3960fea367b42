import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { onAbort } from '../../core/async/on-abort.ts'
import type { ArchivedFile } from '../../core/files/file-ledger.ts'
import { wrongChecksum } from '../../core/files/open-content.ts'
import { chunksOf, discardBody, type OpenedObject } from '../../core/objects/object-store.ts'
import { centralHeader, endOfArchive, localBytes, localHeader } from './zip-format.ts'

type Release = OpenedObject['release']

interface Zip {
  readonly files: readonly ArchivedFile[]
  /** Called for one file after the other. The content has as many bytes as the file's `size`, or fails. */
  readonly open: (file: ArchivedFile) => Promise<OpenedObject>
  /** Ends a read that waits for the store. */
  readonly signal: AbortSignal
}

/**
 * A ZIP archive of the files, of exactly `zipLength` bytes. It fails as soon as `open` or a content does, and at the end
 * of a content that does not have the CRC-32 that its header has announced. Holds one content at a time.
 */
export function createZip({ files, open, signal }: Zip): Pick<OpenedObject, 'release'> & {
  readonly body: Readable
} {
  const releases = new WeakMap<Uint8Array, Release>()

  async function* contentOf(file: ArchivedFile, opened: OpenedObject): AsyncGenerator<Uint8Array> {
    let crc = 0
    for await (const chunk of chunksOf(opened)) {
      crc = crc32(chunk, crc)
      releases.set(chunk, opened.release)
      yield chunk
    }
    if (crc !== file.crc32) throw wrongChecksum(file, crc)
  }
  async function* entries(): AsyncGenerator<Uint8Array> {
    let reading: OpenedObject | undefined
    using _ = onAbort(signal, () => reading && discardBody(reading))
    for (const file of files) {
      reading = await open(file)
      try {
        signal.throwIfAborted()
        yield localHeader(file)
        yield* contentOf(file, reading)
      } finally {
        discardBody(reading)
      }
    }
    yield* centralDirectory(files)
  }
  // Its reader holds the bytes that wait for a slow client.
  const body = Readable.from(gatherSmall(entries()), { highWaterMark: 1 })
  return { body, release: (chunk) => releases.get(chunk)?.(chunk) }
}

/** Finds the offsets again, so that nothing is kept of a file that has been sent. */
function* centralDirectory(files: readonly ArchivedFile[]): Generator<Uint8Array> {
  let offset = 0
  let bytes = 0
  for (const file of files) {
    const header = centralHeader(file, offset)
    yield header
    bytes += header.length
    offset += localBytes(file) + file.size
  }
  yield endOfArchive({ entries: files.length, offset, bytes })
}

const SMALL_BYTES = 4 * 1024
const GATHERED_BYTES = 16 * 1024

/**
 * Joins small chunks, of which a small file has two, and lets the event loop run after each: thousands of small files
 * would otherwise be read in one iteration of the event loop.
 */
async function* gatherSmall(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let small: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    const isSmall = chunk.byteLength < SMALL_BYTES
    if (isSmall) {
      small.push(chunk)
      bytes += chunk.byteLength
    }
    if (small.length > 0 && (!isSmall || bytes >= GATHERED_BYTES)) {
      await setImmediate()
      yield Buffer.concat(small)
      small = []
      bytes = 0
    }
    if (!isSmall) yield chunk
  }
  if (small.length > 0) yield Buffer.concat(small)
}
