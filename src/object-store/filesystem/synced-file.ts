import type { FileHandle } from 'node:fs/promises'
import { syncDirectory } from './durable-directories.ts'

/** A power cut loses at most about this much of what was written. */
const MAX_UNSYNCED_BYTES = 8 * 1024 * 1024
const MAX_UNSYNCED_MS = 5000

export interface SyncedFileOptions {
  /** Where to write, in bytes. */
  readonly position: number
  /** The file's folder, if its entry there may not be on disk yet. */
  readonly newIn: string | undefined
  /** Called when everything before `position` is on disk. */
  readonly onSynced: (position: number) => void
}

/** Appends to a file and fsyncs it at intervals, in parallel with further writes. Owns the handle. */
export class SyncedFile implements AsyncDisposable {
  readonly #handle: FileHandle
  readonly #onSynced: SyncedFileOptions['onSynced']
  #newIn: string | undefined
  #position: number
  #synced: number
  #syncedAt = performance.now()
  #running: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(handle: FileHandle, { position, newIn, onSynced }: SyncedFileOptions) {
    this.#handle = handle
    this.#position = position
    this.#synced = position
    this.#newIn = newIn
    this.#onSynced = onSynced
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    for (let at = 0; at < chunk.byteLength;) {
      const length = chunk.byteLength - at
      const { bytesWritten } = await this.#handle.write(chunk, at, length, this.#position)
      at += bytesWritten
      this.#position += bytesWritten
    }
    if (this.#running === undefined && this.#isDue()) this.#running = this.#syncBeside()
  }

  /** Guarantees that everything written is on disk. */
  async sync(): Promise<void> {
    await this.#running
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#position > this.#synced || this.#newIn !== undefined) await this.#sync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running
    await this.#handle.close()
  }

  #isDue(): boolean {
    if (this.#position - this.#synced >= MAX_UNSYNCED_BYTES) return true
    return performance.now() - this.#syncedAt >= MAX_UNSYNCED_MS
  }

  async #syncBeside(): Promise<void> {
    try {
      await this.#sync()
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#running = undefined
    }
  }

  async #sync(): Promise<void> {
    const position = this.#position
    await this.#handle.sync()
    const { size } = await this.#handle.stat()
    if (size < position) throw new Error(`${position} bytes were written to a file of ${size}`)
    if (this.#newIn !== undefined) await syncDirectory(this.#newIn)
    this.#newIn = undefined
    this.#synced = position
    this.#syncedAt = performance.now()
    this.#onSynced(position)
  }
}
