import { constants } from 'node:fs'
import { access, copyFile, type FileHandle, lstat, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AppendObject, StoredAppend, Durable } from '../../core/objects/append-store.ts'
import { receiveBody } from '../receive-body.ts'
import { formatFileState, type FileState, parseFileState } from './store-state.ts'
import { ensureDirectory, syncDirectory } from './durable-directories.ts'
import { orMissing } from './or-missing.ts'
import { SyncedFile } from './synced-file.ts'
import { removeOlderFiles, removeTemporaryFile, suffixOf } from './temporary-files.ts'

export interface ObjectPlace {
  /** Of the object. */
  readonly path: string
  /** The folder of all users' folders. */
  readonly users: string
}

/**
 * Implements the port's `append`. The content is fsynced before `onDurable` is called. An append that takes over writes
 * to a copy, because the earlier one may still write to the file.
 */
export async function appendToFile(
  append: AppendObject,
  place: ObjectPlace,
): Promise<StoredAppend | undefined> {
  const { body, signal } = append
  let storing: Promise<Durable | undefined> | undefined
  try {
    const { failure } = await receiveBody({ body, signal }, async ({ bytes, signal }) => {
      storing = new FileAppend(append, place).store(bytes, signal)
      await storing
    })
    const durable = await storing
    if (durable === undefined) body.destroy()
    if (durable === undefined || failure === undefined) return durable && { durable }
    return { durable, failure: failure.error }
  } finally {
    // A write in progress must not land among those of the next append.
    await storing?.catch(() => undefined)
  }
}

interface OpenedFile {
  readonly handle: FileHandle
  /** The file's folder, if its entry there may not be on disk yet. */
  readonly newIn: string | undefined
}

class FileAppend {
  readonly #append: AppendObject
  readonly #place: ObjectPlace
  #state: FileState
  #durableTo: number

  constructor(append: AppendObject, place: ObjectPlace) {
    this.#append = append
    this.#place = place
    this.#state = parseFileState(append.storeState)
    this.#durableTo = append.offset
  }

  /** Resolves to `undefined` if bytes before the offset are lost. */
  async store(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Durable | undefined> {
    const { release, offset } = this.#append
    // A disk that is not mounted must not look like a lost upload.
    if (offset > 0) await access(this.#place.users)
    const { copyTo } = this.#state
    const opened = copyTo === undefined ? await this.#open() : await this.#takeOver(copyTo)
    if (opened === undefined) return await this.#lose()
    const { handle, newIn } = opened
    const onSynced = (position: number): void => {
      if (!signal.aborted) this.#report(position)
    }
    await using file = new SyncedFile(handle, { position: offset, newIn, onSynced })
    for await (const chunk of bytes) {
      await file.write(chunk)
      release?.(chunk)
    }
    signal.throwIfAborted()
    await file.sync()
    return this.#durable()
  }

  async #open(): Promise<OpenedFile | undefined> {
    const { path, users } = this.#place
    const { file: number, hasOlder } = this.#state
    if (hasOlder === true) {
      await removeOlderFiles(path, { last: number, kept: number })
      this.#state = { file: number }
    }
    const file = `${path}${suffixOf(number)}`
    if (this.#append.offset > 0) {
      const handle = await orMissing(this.#openAtOffset(file))
      return handle && { handle, newIn: undefined }
    }
    const newIn = dirname(file)
    await ensureDirectory(newIn, users)
    // Nothing is recorded yet, so what a crash has left is overwritten.
    const handle = await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600)
    return { handle, newIn }
  }

  /** Copies what is recorded to a file that no other append knows. */
  async #takeOver(copyTo: number): Promise<OpenedFile | undefined> {
    const { path, users } = this.#place
    const { file: source } = this.#state
    const file = `${path}${suffixOf(copyTo)}`
    // First, so that the copies of appends that were killed do not pile up.
    await removeOlderFiles(path, { last: copyTo, kept: source })
    await ensureDirectory(dirname(file), users)
    let handle: FileHandle | undefined
    try {
      handle = await this.#copy(`${path}${suffixOf(source)}`, file)
      await handle?.sync()
      await syncDirectory(dirname(file))
    } catch (error) {
      await handle?.close()
      await removeTemporaryFile(path, copyTo)
      throw error
    }
    if (handle === undefined) {
      await removeTemporaryFile(path, copyTo)
      return undefined
    }
    this.#state = { file: copyTo, hasOlder: true }
    this.#append.onDurable(this.#durable())
    return { handle, newIn: undefined }
  }

  async #copy(from: string, to: string): Promise<FileHandle | undefined> {
    if (this.#append.offset === 0) return await open(to, 'wx', 0o600)
    // The bytes before the offset are never written again.
    const mode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE
    return await orMissing(copyFile(from, to, mode).then(() => this.#openAtOffset(to)))
  }

  /** Resolves to `undefined` if the file is shorter. */
  async #openAtOffset(file: string): Promise<FileHandle | undefined> {
    const { offset } = this.#append
    const handle = await open(file, 'r+')
    try {
      const { size } = await handle.stat()
      if (size > offset) await handle.truncate(offset)
      if (size >= offset) return handle
    } catch (error) {
      await handle.close()
      throw error
    }
    await handle.close()
    return undefined
  }

  /** The file is also gone if the claim no longer stands and the upload was finished. */
  async #lose(): Promise<undefined> {
    const finished = await orMissing(lstat(this.#place.path))
    if (finished !== undefined) throw new Error('The upload has become an object already')
  }

  #report(position: number): void {
    if (position === this.#durableTo) return
    this.#durableTo = position
    this.#append.onDurable(this.#durable())
  }

  #durable(): Durable {
    return {
      offset: this.#durableTo,
      replacedFrom: this.#append.offset,
      pieces: [],
      storeState: formatFileState(this.#state),
    }
  }
}
