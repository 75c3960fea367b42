import { close, fstatSync, open, read } from 'node:fs'
import { addAbortSignal, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { EvenShare } from '../core/even-share.ts'
import type { OpenedObject, OpenObject } from '../core/object-store.ts'
import { BLOCK_BYTES, Blocks } from './blocks.ts'
import { freeChunk } from './free-chunk.ts'
import { unavailable } from './unavailable.ts'

type Opening = Pick<OpenObject, 'signal'> & { readonly range: OpenObject['range'] | undefined }

const MIB = 1024 * 1024

const openFile = promisify(open)

/**
 * Opens files as bodies. The fewer there are at a time the larger are the pieces in which they are read, since each takes
 * a way to the thread pool and back; and the memory of the largest is used again.
 */
export class FileBodies {
  readonly #memory: FileMemory = {
    blocks: new Blocks(),
    // Of each body about one is waiting to be sent while another is read.
    share: new EvenShare({ total: 16 * MIB, least: BLOCK_BYTES / 16, most: BLOCK_BYTES }),
  }

  /** Opens a file, or a range of it, as a body that fails when the file ends early. */
  async open(path: string, { range, signal }: Opening): Promise<OpenedObject> {
    const file = await openFile(path, 'r')
    const { size } = statOrClose(file)
    const first = range?.first ?? 0
    const end = range === undefined ? size : range.last + 1
    const body = addAbortSignal(signal, new FileBody({ ...this.#memory, file, first, end }))
    // It can fail before whoever asked for it listens.
    body.on('error', () => undefined)
    return { body, size, release: (chunk) => this.#release(chunk) }
  }

  #release(chunk: Uint8Array): void {
    const { buffer } = chunk
    if (buffer.byteLength === BLOCK_BYTES) this.#memory.blocks.giveBack(Buffer.from(buffer))
    else freeChunk(chunk)
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

interface FileMemory {
  readonly blocks: Blocks
  readonly share: EvenShare
}

interface FileBodyOptions extends FileMemory {
  /** Its descriptor, which is closed at the end. */
  readonly file: number
  /** The first byte, and that after the last. */
  readonly first: number
  readonly end: number
}

/** Reads while a reader wants bytes. Each chunk has an `ArrayBuffer` of its own, a block if it is as large as one. */
class FileBody extends Readable {
  readonly #options: FileBodyOptions
  readonly #leave: () => void
  #position: number
  #isReading = false
  #onceRead: (() => void) | undefined

  constructor(options: FileBodyOptions) {
    super()
    this.#options = options
    this.#position = options.first
    this.#leave = options.share.join()
  }

  override _read(): void {
    const { file, end, share, blocks } = this.#options
    const length = Math.min(share.bytes, end - this.#position)
    if (length === 0) {
      this.push(null)
      return
    }
    const buffer = length === BLOCK_BYTES ? blocks.take() : Buffer.allocUnsafeSlow(length)
    this.#isReading = true
    read(file, buffer, 0, length, this.#position, (error, bytesRead) => {
      this.#isReading = false
      this.#onceRead?.()
      if (error !== null) this.destroy(unavailable(error))
      else this.#take(buffer, bytesRead)
    })
  }

  #take(buffer: Buffer, bytesRead: number): void {
    this.#position += bytesRead
    if (bytesRead > 0) {
      this.push(buffer.subarray(0, bytesRead))
      return
    }
    const missing = this.#options.end - this.#position
    this.destroy(unavailable(new Error(`The file ends ${missing} bytes early`)))
  }

  /** A descriptor that is closed while it is read could be that of another file by then. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    const end = (): void => close(this.#options.file, (failure) => done(error ?? failure))
    if (this.#isReading) this.#onceRead = end
    else end()
  }
}
