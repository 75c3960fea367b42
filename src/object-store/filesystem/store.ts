import { constants } from 'node:fs'
import { access, lstat, opendir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { settledUnlessAborted } from '../../core/async/deadline.ts'
import type { ListObjects, ObjectStore } from '../../core/objects/object-store.ts'
import {
  isObjectKey,
  OBJECT_KEY_PREFIX,
  type ObjectKey,
  ownerOf,
} from '../../core/objects/object-key.ts'
import { appendToFile, type ObjectPlace } from './append-file.ts'
import { ensureDirectory, syncDirectory } from './durable-directories.ts'
import { FileBodies } from './file-stream.ts'
import { finishFile, isFileStored } from './finish-file.ts'
import { createIdentity, readIdentity } from './identity.ts'
import { orMissing } from './or-missing.ts'
import { Pack } from './pack/pack.ts'
import { FileWriter } from './put-file.ts'
import { readMetadata, removeMetadata } from './symlink-metadata.ts'
import { storeError } from '../store-error.ts'
import { isFenceable, parseFileState, planAppend } from './store-state.ts'
import { removeTemporaryFile, removeTemporaryFiles } from './temporary-files.ts'

/** Files have no parts; a resumed append reuses the digest at multiples of this. */
const PART_BYTES = 8 * 1024 * 1024

/** What arrives whole is at most this large; larger objects gain less (bench/NOTES.md, "Small objects in a pack"). */
const MAX_PACKED_BYTES = 32 * 1024

/**
 * Stores objects on one machine. A small object that is put as a whole goes into `<directory>/pack.sqlite`; any other
 * is a file, `<directory>/users/<user_id>/<version>`. A put writes `<version>.tmp`, fsyncs, renames and fsyncs the
 * directory: the object is whole, even after a power cut, or absent. Appends write to the same file, those that take
 * over to one in `<version>.tmp.d`. Calls on files have no deadline.
 */
export function createFilesystemStore(options: { readonly directory: string }): ObjectStore {
  const root = resolve(options.directory)
  const users = resolve(root, OBJECT_KEY_PREFIX)
  const bodies = new FileBodies()
  const files = new FileWriter(users)
  const pack = new Pack(root)

  /** Defence in depth: a defect in core must not lead to a path outside the directory. */
  function pathOf(key: ObjectKey): string {
    if (!isObjectKey(key)) throw storeError(new TypeError('Not an object key'))
    return join(root, key)
  }

  function placeOf(key: ObjectKey): ObjectPlace {
    return { path: pathOf(key), users }
  }

  async function assertUsable(): Promise<void> {
    // Only a directory has a `.` entry.
    await access(`${users}/.`, constants.R_OK | constants.W_OK | constants.X_OK)
  }

  return {
    hasTails: false,

    async put(object) {
      const path = pathOf(object.key)
      const { key, body, metadata = {}, signal } = object
      if (body instanceof Uint8Array && body.byteLength <= MAX_PACKED_BYTES) {
        const size = await attempt(signal, () => pack.put({ key, metadata, content: body }))
        // Not earlier: until then, the pack holds the content, and the caller must count it.
        if (signal.aborted) throw storeError(signal.reason)
        return { size }
      }
      try {
        return await files.put(path, object)
      } catch (error) {
        await removeFiles(path).catch(() => undefined)
        throw error
      }
    },

    partSizeFor: () => PART_BYTES,
    planAppend,
    isFenceable,
    append: async (append) => appendToFile(append, placeOf(append.key)),
    async removeFenced({ key, storeState, recorded, signal }) {
      const path = pathOf(key)
      const { file } = parseFileState(storeState)
      if (recorded !== undefined && parseFileState(recorded).file === file) return
      await attempt(signal, () => removeTemporaryFile(path, file))
    },
    async finish(upload) {
      const place = placeOf(upload.key)
      return attempt(upload.signal, () => finishFile(upload, place))
    },
    async isStored(upload) {
      const place = placeOf(upload.key)
      return attempt(upload.signal, () => isFileStored(upload, place))
    },

    async open({ key, range, signal }) {
      const path = pathOf(key)
      return attempt(signal, async () => {
        const owner = ownerOf(key) ?? ''
        const openFile = () => orMissing(bodies.open(path, { owner, range, signal }))
        const packed = await unlessInFile(pack.read({ key, signal }), openFile)
        if (packed === undefined) return await openFile()
        if ('body' in packed) return packed
        const body = range === undefined ? packed : packed.subarray(range.first, range.last + 1)
        return { body, size: packed.byteLength }
      })
    },

    async head({ key, signal }) {
      const path = pathOf(key)
      return attempt(signal, async () => {
        const headOfFile = async () => {
          const stats = await orMissing(lstat(path))
          return stats && { size: stats.size, metadata: await readMetadata(path) }
        }
        return (await unlessInFile(pack.head({ key, signal }), headOfFile)) ?? (await headOfFile())
      })
    },

    async remove({ key, signal }) {
      const path = pathOf(key)
      await attempt(signal, async () => {
        if (await settledUnlessAborted(pack.remove({ key, signal }), signal)) return
        await removeFiles(path)
        await orMissing(syncDirectory(dirname(path)))
      })
    },

    async *list({ prefix, signal }) {
      yield* translating(pack.list({ prefix, signal }))
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
        await pack.prepare(signal)
      }),
    readIdentity: (signal) => attempt(signal, () => readIdentity(root)),
    createIdentity: (identity, signal) => attempt(signal, () => createIdentity(root, identity)),
    check: (signal) => attempt(signal, assertUsable),
    close: () => pack.close(),
  }
}

/** A damaged pack takes no file along. */
async function unlessInFile<P, F>(packed: Promise<P>, find: () => Promise<F>): Promise<P | F> {
  try {
    return await packed
  } catch (error) {
    const file = await find()
    if (file === undefined) throw error
    return file
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

const ANY_VERSION = '00000000-0000-7000-8000-000000000000'

/** Temporary files go first: if a concurrent put renames one before that, the last step removes the result. */
async function removeFiles(path: string): Promise<void> {
  await removeTemporaryFiles(path)
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

async function* translating<T>(items: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* items
  } catch (error) {
    throw storeError(error)
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
