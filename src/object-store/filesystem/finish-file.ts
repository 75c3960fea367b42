import { access, lstat, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FinishObject, RecordedUpload } from '../../core/objects/append-store.ts'
import type { ObjectPlace } from './append-file.ts'
import { parseFileState } from './store-state.ts'
import { syncDirectory } from './durable-directories.ts'
import { orMissing } from './or-missing.ts'
import { writeMetadata } from './symlink-metadata.ts'
import { removeTemporaryFiles, suffixOf } from './temporary-files.ts'

/** Implements the port's `finish`: renames the file, which appends have fsynced. */
export async function finishFile(
  { size, storeState, metadata }: FinishObject,
  { path, users }: ObjectPlace,
): Promise<{ readonly size: number } | undefined> {
  // A disk that is not mounted must not look like a lost upload.
  await access(users)
  const file = `${path}${suffixOf(parseFileState(storeState).file)}`
  const isThere = (await orMissing(lstat(path))) !== undefined
  if (!isThere && (await orMissing(cutTo(size, file))) === true) {
    // Before the rename, so that no object is visible without its metadata.
    await writeMetadata(path, metadata)
    // Another call may be faster.
    await orMissing(rename(file, path))
  }
  const stats = await orMissing(lstat(path))
  if (stats?.size !== size) return undefined
  await syncDirectory(dirname(path))
  await removeTemporaryFiles(path)
  return { size }
}

/** Implements the port's `isStored`. */
export async function isFileStored(
  { offset, storeState }: RecordedUpload,
  { path, users }: ObjectPlace,
): Promise<boolean> {
  await access(users)
  if (offset === 0) return true
  const file = await orMissing(lstat(`${path}${suffixOf(parseFileState(storeState).file)}`))
  // A finish may have renamed the file.
  const { size } = file ?? (await orMissing(lstat(path))) ?? { size: 0 }
  return size >= offset
}

/** Removes unrecorded bytes beyond `size`. Resolves to whether the file has that size. */
async function cutTo(size: number, file: string): Promise<boolean> {
  const handle = await open(file, 'r+')
  try {
    const stats = await handle.stat()
    if (stats.size > size) {
      await handle.truncate(size)
      await handle.sync()
    }
    return stats.size >= size
  } finally {
    await handle.close()
  }
}
