import { close, closeSync, fstatSync, open, read } from 'node:fs'
import { addAbortSignal, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createFairShare, type FairShare } from '../../core/async/fair-share.ts'
import { FairSemaphore, type Permit } from '../../core/async/fair-semaphore.ts'
import { detachBuffer, type OpenedObject, type ByteRange } from '../../core/objects/object-store.ts'
import { BUFFER_BYTES, BufferPool } from '../buffer-pool.ts'
import { storeError } from '../store-error.ts'

interface Opening {
  /** Owners take turns with the reads of their files. */
  readonly owner: string
  readonly range: ByteRange | undefined
  readonly signal: AbortSignal
}

const openFile = promisify(open)

/** Node's threads for files: eight in the image, four by default, one if the setting is no number. */
const THREADS = Number.parseInt(process.env['UV_THREADPOOL_SIZE'] ?? '4', 10) || 1

/**
 * One thread is left for others. Otherwise readers of files that are not cached, from a disk with few operations a
 * second, would keep all of them, and each step of an upload would wait behind a hundred reads.
 */
const MAX_READS = Math.max(1, THREADS - 1)

/** Opens files as bodies. Fewer open files get larger chunks, since each read costs a thread-pool round trip. */
export class FileBodies {
  readonly #memory: FileMemory = {
    pool: new BufferPool(),
    // The bytes that wait to be sent come on top (`http/download/send-body.ts`).
    share: createFairShare({
      totalBytes: 16 * 1024 * 1024,
      minBytes: BUFFER_BYTES / 16,
      maxBytes: BUFFER_BYTES,
    }),
    turns: new FairSemaphore({ permits: MAX_READS }),
  }

  async open(path: string, { owner, range, signal }: Opening): Promise<OpenedObject> {
    const { turns } = this.#memory
    const file = await turns.run({ owner, signal }, () => openFile(path, 'r'))
    const { size } = statOrClose(file)
    const first = range?.first ?? 0
    const end = range === undefined ? size : range.last + 1
    const body = createFileBody({ ...this.#memory, owner, file, size, first, end })
    // The body can fail before the caller listens.
    addAbortSignal(signal, body).on('error', () => undefined)
    return { body, size, release: (chunk) => this.#release(chunk) }
  }

  #release(chunk: Uint8Array): void {
    const { buffer } = chunk
    if (buffer.byteLength === BUFFER_BYTES) this.#memory.pool.giveBack(Buffer.from(buffer))
    else detachBuffer(chunk)
  }
}

/** `fstatSync` does not wait for the disk: the inode of a file just opened is cached. */
function statOrClose(file: number): { readonly size: number } {
  try {
    return fstatSync(file)
  } catch (error) {
    close(file, () => undefined)
    throw error
  }
}

/** In bytes. Closing a removed file also frees its disk blocks, which takes long for a large one. */
const MAX_CLOSED_AT_ONCE = 4 * BUFFER_BYTES

/** A synchronous close is faster than a thread-pool round trip. */
function closeAtOnce(file: number, done: (failure?: Error) => void): void {
  let failure: Error | undefined
  try {
    closeSync(file)
  } catch (error) {
    failure = storeError(error)
  }
  done(failure)
}

interface FileMemory {
  readonly pool: BufferPool
  readonly share: FairShare
  readonly turns: FairSemaphore
}

interface FileBodyOptions extends FileMemory {
  readonly owner: string
  /** File descriptor, closed when the body ends. */
  readonly file: number
  readonly size: number
  /** `first` is inclusive, `end` exclusive. */
  readonly first: number
  readonly end: number
}

/** Reads on demand, with callbacks: `FileHandle` costs a third more (bench/NOTES.md). Chunks share no `ArrayBuffer`. */
function createFileBody(options: FileBodyOptions): Readable {
  const { file, size, first, end, owner, pool, share, turns } = options
  const part = share.join()
  let position = first
  let pushedAt: number | undefined
  let isReading = false
  let onceRead: (() => void) | undefined

  function readNext(): void {
    if (pushedAt !== undefined) part.adapt(performance.now() - pushedAt)
    const length = Math.min(part.bytes, end - position)
    if (length === 0) {
      body.push(null)
      return
    }
    // No signal: it would add a listener per chunk. A destroyed body gives its turn back at once.
    turns.acquireWith(
      { owner },
      (turn) => (body.destroyed ? turn.release() : readChunk(turn, length)),
      (error) => body.destroy(storeError(error)),
    )
  }
  function readChunk(turn: Permit, length: number): void {
    const buffer = length === BUFFER_BYTES ? pool.take() : Buffer.allocUnsafeSlow(length)
    isReading = true
    read(file, buffer, 0, length, position, (error, bytesRead) => {
      turn.release()
      isReading = false
      if (onceRead !== undefined) onceRead()
      else if (error !== null) body.destroy(storeError(error))
      else take(buffer, bytesRead)
    })
  }
  function take(buffer: Buffer, bytesRead: number): void {
    position += bytesRead
    pushedAt = performance.now()
    if (bytesRead > 0) body.push(buffer.subarray(0, bytesRead))
    else body.destroy(storeError(new Error(`The file ends ${end - position} bytes early`)))
  }
  function destroy(error: Error | null, done: (error?: Error | null) => void): void {
    part.leave()
    const closeFile = size <= MAX_CLOSED_AT_ONCE ? closeAtOnce : close
    const detach = (): void => closeFile(file, (failure) => done(error ?? failure))
    // Another file could reuse the descriptor while the read is still in progress.
    if (isReading) onceRead = detach
    else detach()
  }

  // No read-ahead: `http/download/send-body.ts` holds the bytes that wait for a slow client.
  const body = new Readable({ read: readNext, destroy, highWaterMark: 0 })
  return body
}
