import { type FileHandle, open, rename } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import type { PutObject } from '../../core/objects/object-store.ts'
import { consumeBody } from '../consume-body.ts'
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

  put(path: string, object: PutObject): Promise<{ readonly size: number }> {
    const { release, metadata, signal } = object
    const body = object.body instanceof Uint8Array ? Readable.from([object.body]) : object.body
    return consumeBody({ body, signal }, async ({ bytes, signal }) => {
      const file = `${path}${TEMPORARY}`
      const size = await this.#write(file, { bytes, release })
      // Before the rename, so that no object is visible without its metadata.
      if (metadata !== undefined) await writeMetadata(path, metadata)
      signal.throwIfAborted()
      await rename(file, path)
      await this.#directories.sync(dirname(path))
      return { size }
    })
  }

  async #write(path: string, { bytes, release }: Stream): Promise<number> {
    let written = 0
    const handle: FileHandle = await this.#directories.enter(dirname(path), this.#users, () =>
      open(path, 'wx', 0o600),
    )
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
