import { createHash } from 'node:crypto'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { NamedContent, UnfinishedContent } from '../../core/backup/named-object.ts'
import { messageOf } from '../../core/errors.ts'
import { OBJECT_KEY_PREFIX } from '../../core/objects/object-key.ts'
import { DurableDirectories } from './durable-directories.ts'
import { orMissing } from './or-missing.ts'
import { PACK_NAME } from './pack/pack-file.ts'
import { PackCopier } from './pack/pack-copier.ts'
import { parseFileState } from './store-state.ts'
import { readMetadata, writeMetadata } from './symlink-metadata.ts'
import { suffixOf } from './temporary-files.ts'

export interface CopyObjects {
  /** The folders of two object stores. Services can use the first one. */
  readonly from: string
  readonly to: string
  /** A call that was killed may have left objects whose folders are not on the disk yet. */
  readonly isResumed: boolean
  readonly signal: AbortSignal
}

export type CopyResult =
  | { readonly end: 'present' }
  | { readonly end: 'copied' }
  | { readonly end: 'missing' }
  /** Nothing was copied. */
  | { readonly end: DamageKind; readonly found: number | string }

/** The names that `verify` gives them. */
export type DamageKind = 'wrong_size' | 'wrong_digest' | 'unreadable_object'

/**
 * Copies single objects between the folders of two object stores. What is there with its size is not copied again, and
 * only content with the recorded SHA-256 is copied. After a crash, an object is there as a whole, or absent.
 */
export class ObjectCopier implements AsyncDisposable {
  readonly #options: CopyObjects
  readonly #users: string
  readonly #temporary: string
  readonly #packs: PackCopier
  readonly #directories = new DurableDirectories()
  readonly #unsynced = new Set<string>()

  constructor(options: CopyObjects) {
    const { from, to } = options
    this.#options = options
    this.#users = join(to, OBJECT_KEY_PREFIX)
    this.#temporary = join(to, TEMPORARY_NAME)
    this.#packs = new PackCopier({ from: join(from, PACK_NAME), to: join(to, PACK_NAME) })
  }

  /** Durable at the next `flush`. Rejects if the object cannot be written. */
  async copy(content: NamedContent): Promise<CopyResult> {
    const { key, size } = content
    const name = key.slice(OBJECT_KEY_PREFIX.length)
    if (this.#packs.has(name) || (await this.#isThere(key, (found) => found === size))) {
      return { end: 'present' }
    }
    return this.#copyPacked(name, content) ?? (await this.#copyFile(key, content))
  }

  /**
   * As `copy`, for the recorded bytes of an upload, or for its object if it was finished since. Resolves to whether they
   * are there.
   */
  async copyUnfinished(upload: UnfinishedContent): Promise<boolean> {
    const { key, size } = upload
    const isLong = (found: number): boolean => found >= size
    const piece = pieceOf(upload)
    for (const path of [piece, key]) if (await this.#isThere(path, isLong)) return true
    const copied = await this.#copyFile(piece, { size, limit: size })
    return copied.end === 'copied' || (await this.#copyFile(key, {})).end === 'copied'
  }

  /** Guarantees that all objects until now are on the disk. */
  async flush(): Promise<void> {
    this.#packs.commit()
    for (const folder of this.#unsynced) await this.#directories.sync(folder)
    this.#unsynced.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#packs[Symbol.dispose]()
    await rm(this.#temporary, { force: true })
  }

  async #isThere(path: string, isRight: (size: number) => boolean): Promise<boolean> {
    const file = join(this.#options.to, path)
    const stats = await orMissing(lstat(file))
    if (stats === undefined || !isRight(stats.size)) return false
    if (this.#options.isResumed) this.#unsynced.add(dirname(file))
    return true
  }

  /** `undefined` if the pack has no such object. */
  #copyPacked(name: string, { size, sha256 }: NamedContent): CopyResult | undefined {
    let row
    try {
      row = this.#packs.read(name)
    } catch (error) {
      return { end: 'unreadable_object', found: messageOf(error) }
    }
    if (row === undefined) return undefined
    const { byteLength } = row.content
    const digest = createHash('sha256').update(row.content).digest('hex')
    const damage = damageOf({ size, sha256 }, { size: byteLength, sha256: digest })
    if (damage === undefined) this.#packs.add(name, row)
    return damage ?? { end: 'copied' }
  }

  async #copyFile(path: string, expected: Expected): Promise<CopyResult> {
    const { from, to, signal } = this.#options
    const source = await orMissing(open(join(from, path), 'r'))
    if (source === undefined) return { end: 'missing' }
    await using opened = new AsyncDisposableStack()
    opened.defer(() => source.close())
    const target = join(to, path)
    const handle = await open(this.#temporary, 'w', 0o600)
    opened.defer(() => handle.close())
    const copied = await copyBytes({ source, target: handle, expected, signal })
    if (typeof copied === 'string') return { end: 'unreadable_object', found: copied }
    const damage = damageOf(expected, copied)
    if (damage !== undefined) return damage
    await handle.sync()
    await this.#directories.enter(dirname(target), this.#users, async () => {
      const metadata = await readMetadata(join(from, path))
      // Before the rename, so that no object is visible without its metadata.
      if (Object.keys(metadata).length > 0) await writeMetadata(target, metadata)
      await rename(this.#temporary, target)
    })
    this.#unsynced.add(dirname(target))
    return { end: 'copied' }
  }
}

/** The path of the file with the recorded bytes. */
export function pieceOf({ key, storeState }: UnfinishedContent): string {
  return `${key}${suffixOf(parseFileState(storeState).file)}`
}

/** One at a time, in the folder of the store, outside of what it lists. */
const TEMPORARY_NAME = 'copy.tmp'

interface Expected {
  readonly size?: number
  readonly sha256?: string
  /** Bytes to copy; all of them if omitted. */
  readonly limit?: number | undefined
}

function damageOf(
  expected: Expected,
  found: { readonly size: number; readonly sha256: string },
): CopyResult | undefined {
  const { size = found.size, sha256 = found.sha256 } = expected
  if (size !== found.size) return { end: 'wrong_size', found: found.size }
  if (sha256 !== found.sha256) return { end: 'wrong_digest', found: found.sha256 }
  return undefined
}

interface CopyBytes {
  readonly source: FileHandle
  readonly target: FileHandle
  readonly expected: Expected
  readonly signal: AbortSignal
}

const BUFFER_BYTES = 1024 * 1024

/** Resolves to a message if the source cannot be read. */
async function copyBytes({
  source,
  target,
  expected,
  signal,
}: CopyBytes): Promise<{ readonly size: number; readonly sha256: string } | string> {
  const { limit = Infinity } = expected
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  let size = 0
  while (size < limit) {
    signal.throwIfAborted()
    const length = Math.min(BUFFER_BYTES, limit - size)
    const read = await source.read(buffer, 0, length, size).catch(messageOf)
    if (typeof read === 'string') return read
    if (read.bytesRead === 0) break
    const chunk = buffer.subarray(0, read.bytesRead)
    if (expected.sha256 !== undefined) hash.update(chunk)
    await target.writeFile(chunk)
    size += read.bytesRead
  }
  return { size, sha256: expected.sha256 === undefined ? '' : hash.digest('hex') }
}
