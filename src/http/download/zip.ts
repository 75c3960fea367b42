import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { makeZip, predictLength } from 'client-zip'
import { onAbort } from '../../core/async/on-abort.ts'
import type { ArchivedFile } from '../../core/files/file-ledger.ts'
import { chunksOf, discardBody, type OpenedObject } from '../../core/objects/object-store.ts'

type Release = OpenedObject['release']

/** In bytes; ZIP64 where it is needed. It does not depend on the contents, which are not compressed. */
export function zipLength(files: readonly ArchivedFile[]): number {
  return Number(predictLength(files.map(({ name, size }) => ({ name, size }))))
}

interface Zip {
  readonly files: readonly ArchivedFile[]
  /** Called for one file after the other. The content has as many bytes as the file's `size`, or fails. */
  readonly open: (file: ArchivedFile) => Promise<OpenedObject>
  /** Ends a read that waits for the store. */
  readonly signal: AbortSignal
}

/**
 * A ZIP archive of the files, of exactly `zipLength` bytes. It fails as soon as `open` or a content does. Holds one
 * content at a time, and about 1 KiB for each file until the end.
 */
export function createZip({ files, open, signal }: Zip): Pick<OpenedObject, 'release'> & {
  readonly body: Readable
} {
  const releases = new WeakMap<Uint8Array, Release>()

  async function* contentOf(opened: OpenedObject): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunksOf(opened)) {
      releases.set(chunk, opened.release)
      yield chunk
    }
  }
  async function* entries() {
    let reading: OpenedObject | undefined
    using _ = onAbort(signal, () => reading && discardBody(reading))
    for (const file of files) {
      const { name, size } = file
      const lastModified = dosDate(file.updatedAt)
      reading = await open(file)
      try {
        signal.throwIfAborted()
        yield { name, size, lastModified, input: contentOf(reading) }
      } finally {
        discardBody(reading)
      }
    }
  }
  const chunks = gatherSmall(makeZip(entries()))
  // Its reader holds the bytes that wait for a slow client.
  const body = Readable.from(chunks, { highWaterMark: 1 })
  return { body, release: (chunk) => releases.get(chunk)?.(chunk) }
}

/** The times that an entry can have (APPNOTE 4.4.6), in this machine's zone. Others would be taken modulo 128 years. */
function dosDate(ms: number): Date {
  return new Date(Math.min(Math.max(ms, FIRST.getTime()), LAST.getTime()))
}

const FIRST = new Date(1980, 0, 1)
const LAST = new Date(2107, 11, 31, 23, 59, 58)

const SMALL_BYTES = 4 * 1024
const GATHERED_BYTES = 16 * 1024

/**
 * Joins small chunks, of which every file has three, and lets the event loop run after each: thousands of small files
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
