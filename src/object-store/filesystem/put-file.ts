import { closeSync, fstatSync, fsync, open as openFile, write } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import type { PutObject } from '../../core/objects/object-store.ts'
import { consumeBody } from '../consume-body.ts'
import { translated } from '../store-error.ts'
import { DurableDirectories } from './durable-directories.ts'
import { writeMetadata } from './symlink-metadata.ts'
import { TEMPORARY } from './temporary-files.ts'

/** Implements the port's `put`, but does not remove what a failure leaves. */
export class FileWriter {
  readonly #users: string
  readonly #directories = new DurableDirectories()

  /** `users`: the folder of all users' folders. */
  constructor(users: string) {
    this.#users = users
  }

  async put(path: string, object: PutObject): Promise<{ readonly size: number }> {
    const { body, release, metadata, signal } = object
    if (body instanceof Uint8Array) {
      return await translated(
        this.#write(path, {
          metadata,
          signal,
          writeContent: (file) => this.#writeBytes(file, body),
        }),
      )
    }
    return await consumeBody({ body, signal }, ({ bytes, signal }) => {
      const writeContent = (file: string): Promise<number> =>
        this.#writeStream(file, { bytes, release })
      return this.#write(path, { metadata, signal, writeContent })
    })
  }

  async #write(path: string, writing: Writing): Promise<{ readonly size: number }> {
    const { metadata, signal, writeContent } = writing
    signal.throwIfAborted()
    const file = `${path}${TEMPORARY}`
    const size = await writeContent(file)
    // Before the rename, so that no object is visible without its metadata.
    if (metadata !== undefined) await writeMetadata(path, metadata)
    signal.throwIfAborted()
    await rename(file, path)
    await this.#directories.sync(dirname(path))
    return { size }
  }

  async #writeStream(path: string, { bytes, release }: Stream): Promise<number> {
    let written = 0
    const handle: FileHandle = await this.#create(path, () => open(path, 'wx', 0o600))
    try {
      for await (const chunk of bytes) {
        const { byteLength } = chunk
        await handle.writeFile(chunk)
        written += byteLength
        release?.(chunk)
      }
      await handle.sync()
      const { size } = await handle.stat()
      assertSize(path, { size, written })
      return size
    } finally {
      await handle.close()
    }
  }

  /** With callbacks: a `FileHandle` costs more than the calls themselves (bench/NOTES.md). */
  async #writeBytes(path: string, body: Uint8Array): Promise<number> {
    const { byteLength: written } = body
    const file = await this.#create(path, () => createFile(path, 'wx', 0o600))
    try {
      for (let at = 0; at < written;) at += await writeSome(file, body.subarray(at))
      await syncFile(file)
      // The inode is cached and everything is written, so neither call waits for the disk.
      const { size } = fstatSync(file)
      assertSize(path, { size, written })
      return size
    } finally {
      closeSync(file)
    }
  }

  #create<T>(path: string, create: () => Promise<T>): Promise<T> {
    return this.#directories.enter(dirname(path), this.#users, create)
  }
}

interface Writing {
  readonly signal: AbortSignal
  readonly metadata: PutObject['metadata']
  /** Resolves to the size of the file, which is on disk. */
  readonly writeContent: (file: string) => Promise<number>
}

interface Stream {
  readonly bytes: AsyncIterable<Uint8Array>
  readonly release: PutObject['release']
}

function assertSize(
  path: string,
  { size, written }: { readonly size: number; readonly written: number },
): void {
  if (size === written) return
  throw new Error(`${written} bytes were written to ${basename(path)}, which holds ${size}`)
}

const createFile = promisify(openFile)

const syncFile = promisify(fsync)

function writeSome(file: number, bytes: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  write(file, bytes, (error, written) => (error === null ? resolve(written) : reject(error)))
  return promise
}
