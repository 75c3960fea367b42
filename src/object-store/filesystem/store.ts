import { constants } from 'node:fs'
import { access, lstat, open, opendir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { ListObjects, ObjectStore, PutObject } from '../../core/objects/object-store.ts'
import { isObjectKey, OBJECT_KEY_PREFIX, type ObjectKey } from '../../core/objects/object-key.ts'
import { ensureDirectory, hasCode, syncDirectory } from './fsync-directory.ts'
import { FileBodies } from './file-stream.ts'
import { readMetadata, removeMetadata, writeMetadata } from './symlink-metadata.ts'
import { consumeBody, type Source } from '../consume-body.ts'
import { storeError } from '../store-error.ts'

/**
 * Stores objects on one machine as `<directory>/users/<user_id>/<version>`. A put writes `<version>.tmp`, fsyncs,
 * renames and fsyncs the directory: the object is whole, even after a power cut, or absent. Calls have no deadline.
 */
export function createFilesystemStore(options: { readonly directory: string }): ObjectStore {
  const root = resolve(options.directory)
  const users = resolve(root, OBJECT_KEY_PREFIX)
  const bodies = new FileBodies()

  /** Defence in depth: a defect in core must not lead to a path outside the directory. */
  function pathOf(key: ObjectKey): string {
    if (!isObjectKey(key)) throw storeError(new TypeError('Not an object key'))
    return join(root, key)
  }

  async function assertUsable(): Promise<void> {
    // Only a directory has a `.` entry.
    await access(`${users}/.`, constants.R_OK | constants.W_OK | constants.X_OK)
  }

  return {
    async put(object) {
      const path = pathOf(object.key)
      try {
        return await consumeBody(object, (source) => write({ path, users }, { ...object, source }))
      } catch (error) {
        await removeFiles(path).catch(() => undefined)
        throw error
      }
    },

    async open({ key, range, signal }) {
      const path = pathOf(key)
      return attempt(signal, () => orMissing(bodies.open(path, { range, signal })))
    },

    async head({ key, signal }) {
      const path = pathOf(key)
      return attempt(signal, async () => {
        const stats = await orMissing(lstat(path))
        return stats && { size: stats.size, metadata: await readMetadata(path) }
      })
    },

    async remove({ key, signal }) {
      const path = pathOf(key)
      await attempt(signal, async () => {
        await removeFiles(path)
        await orMissing(syncDirectory(dirname(path)))
      })
    },

    async *list({ prefix, signal }) {
      for await (const user of userDirectories(users, { prefix, signal })) {
        for await (const version of entriesOf(join(root, user), signal)) {
          const key = `${user}${version}`
          if (!isObjectKey(key)) continue
          const stats = await attempt(signal, () => orMissing(lstat(pathOf(key))))
          if (stats !== undefined) yield { key, size: stats.size }
        }
      }
    },

    prepare: (signal) =>
      attempt(signal, async () => {
        await ensureDirectory(users, root)
        await assertUsable()
      }),
    check: (signal) => attempt(signal, assertUsable),
    close: async () => {},
  }
}

/** Relative paths. A prefix that names a user reads one directory, however many users there are. */
async function* userDirectories(
  users: string,
  { prefix, signal }: ListObjects,
): AsyncGenerator<string, void> {
  if (isObjectKey(`${prefix}${ANY_VERSION}`)) {
    yield prefix
    return
  }
  for await (const userId of entriesOf(users, signal)) {
    const directory = `${OBJECT_KEY_PREFIX}${userId}/`
    if (directory.startsWith(prefix)) yield directory
  }
}

interface Writing extends Pick<PutObject, 'metadata' | 'memory'> {
  readonly source: Source
}

async function write(
  { path, users }: { readonly path: string; readonly users: string },
  writing: Writing,
): Promise<{ readonly size: number }> {
  const { metadata, source } = writing
  await ensureDirectory(dirname(path), users)
  const size = await writeFile(temporary(path), writing)
  // Before the rename, so that no object is visible without its metadata.
  if (metadata !== undefined) await writeMetadata(path, metadata)
  if (source.signal.aborted) throw source.signal.reason
  await rename(temporary(path), path)
  await syncDirectory(dirname(path))
  return { size }
}

const ANY_VERSION = '00000000-0000-7000-8000-000000000000'

function temporary(path: string): string {
  return `${path}.tmp`
}

async function writeFile(path: string, { source, memory }: Writing): Promise<number> {
  let written = 0
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of memory?.hold(source.bytes) ?? source.bytes) {
      const { byteLength } = chunk
      await handle.writeFile(chunk)
      written += byteLength
      memory?.detach(chunk)
      memory?.release(byteLength)
    }
    await handle.sync()
    const { size } = await handle.stat()
    if (size === written) return size
    throw new Error(`${written} bytes were written to ${basename(path)}, which holds ${size}`)
  } finally {
    await handle.close()
  }
}

/** The temporary file goes first: if a concurrent put renames it before that, the last step removes the result. */
async function removeFiles(path: string): Promise<void> {
  await rm(temporary(path), { force: true })
  await removeMetadata(path)
  await rm(path, { force: true })
}

async function* entriesOf(directory: string, signal: AbortSignal): AsyncGenerator<string, void> {
  const entries = await attempt(signal, () => orMissing(opendir(directory)))
  if (entries === undefined) return
  for await (const { name } of entries) {
    if (signal.aborted) throw storeError(signal.reason)
    yield name
  }
}

async function attempt<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await call()
  } catch (error) {
    throw storeError(error)
  }
}

async function orMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (hasCode(error, ABSENT)) return undefined
    throw error
  }
}

const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR'])
