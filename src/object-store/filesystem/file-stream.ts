import { close, closeSync, fstatSync, open, read } from 'node:fs'
import { addAbortSignal, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { FairShare } from '../../core/async/fair-share.ts'
import {
  detachBuffer,
  type OpenedObject,
  type OpenObject,
} from '../../core/objects/object-store.ts'
import { BUFFER_BYTES, BufferPool } from '../buffer-pool.ts'
import { storeError } from '../store-error.ts'

type Opening = Pick<OpenObject, 'signal'> & { readonly range: OpenObject['range'] | undefined }

const openFile = promisify(open)

/**
 * Opens files as bodies. The fewer are open the larger are the chunks, since each takes a way to the thread pool and back
 * (without the promises of `FileHandle`, which cost a third more: bench/NOTES.md). Released blocks are read into again.
 */
export class FileBodies {
  readonly #memory: FileMemory = {
    blocks: new BufferPool(),
    // Beside what waits to be sent (`http/download/send-body.ts`).
    share: new FairShare({
      totalBytes: 16 * 1024 * 1024,
      minBytes: BUFFER_BYTES / 16,
      maxBytes: BUFFER_BYTES,
    }),
  }

  /** Opens a file, or a range of it, as a body that fails when the file ends early. */
  async open(path: string, { range, signal }: Opening): Promise<OpenedObject> {
    const file = await openFile(path, 'r')
    const { size } = statOrClose(file)
    const first = range?.first ?? 0
    const end = range === undefined ? size : range.last + 1
    const body = createFileBody({ ...this.#memory, file, size, first, end })
    // It can fail before whoever asked for it listens.
    addAbortSignal(signal, body).on('error', () => undefined)
    return { body, size, release: (chunk) => this.#release(chunk) }
  }

  #release(chunk: Uint8Array): void {
    const { buffer } = chunk
    if (buffer.byteLength === BUFFER_BYTES) this.#memory.blocks.giveBack(Buffer.from(buffer))
    else detachBuffer(chunk)
  }
}

/** The file was opened just now, so that what is known of it is in memory, and to ask takes no time. */
function statOrClose(file: number): { readonly size: number } {
  try {
    return fstatSync(file)
  } catch (error) {
    close(file, () => undefined)
    throw error
  }
}

/** Bytes of a file. A close also frees the blocks of one that was removed, which of a large one takes long. */
const MAX_CLOSED_AT_ONCE = 4 * BUFFER_BYTES

/** Takes less than the way to the thread pool and back. */
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
  readonly blocks: BufferPool
  readonly share: FairShare
}

interface FileBodyOptions extends FileMemory {
  /** Its descriptor, which is closed at the end. */
  readonly file: number
  /** Bytes of the whole file. */
  readonly size: number
  /** The first byte, and that after the last. */
  readonly first: number
  readonly end: number
}

/** Reads while a reader wants bytes. Each chunk has an `ArrayBuffer` of its own, a block if it is as large as one. */
function createFileBody(options: FileBodyOptions): Readable {
  const { file, size, first, end, blocks, share } = options
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
    const buffer = length === BUFFER_BYTES ? blocks.take() : Buffer.allocUnsafeSlow(length)
    isReading = true
    read(file, buffer, 0, length, position, (error, bytesRead) => {
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
    // A descriptor that is closed while it is read could be that of another file by then.
    if (isReading) onceRead = detach
    else detach()
  }

  // What waits for a reader waits where it is sent (`http/download/send-body.ts`), so a paused body reads nothing ahead.
  const body = new Readable({ read: readNext, destroy, highWaterMark: 0 })
  return body
}
