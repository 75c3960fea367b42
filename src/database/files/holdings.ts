import type { FileChange } from '../../core/files/file-change.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName, FileNamePrefix } from '../../core/files/file-name.ts'
import { type BatchOperation, isByPrefix } from '../../core/files/operation.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { Actor } from '../../core/users/caller.ts'
import { type FoundPast, readPast } from '../history/past-versions.ts'
import { becomesPast } from '../ledger/changed-rows.ts'
import { type Holding, holdingOf, type LedgerTx } from '../ledger/ledger-sql.ts'
import { readFiles, type TimedFile } from '../ledger/read-files.ts'

/** The files and past versions of a user that operations name, in memory. */
export class Holdings {
  /** Of the caller. */
  readonly credential: string | undefined
  readonly #historyLifetimeMs: number
  #now: number
  readonly #files: Map<FileName, File>
  /** As they were read. */
  readonly #before: Map<FileName, File>
  readonly #past: Map<Version, FoundPast | 'gone'>

  constructor({ now, credential, historyLifetimeMs, files, past }: HoldingsOptions) {
    this.#now = now
    this.credential = credential
    this.#historyLifetimeMs = historyLifetimeMs
    this.#files = new Map(files.map((file) => [file.name, file]))
    this.#before = new Map(this.#files)
    this.#past = new Map(past)
  }

  /** The time of the changes, by the database's clock. 0 if nothing was found, so that nothing can change. */
  get now(): number {
    return this.#now
  }

  fileNamed(name: FileName): Holding {
    return holdingOf(this.#files.get(name), this.now)
  }

  /** Adds rows of names that no operation has changed, and keeps what is known of the others. */
  add(rows: readonly TimedFile[]): void {
    for (const { now, ...file } of rows) {
      this.#now = Math.max(this.#now, now)
      if (this.#before.has(file.name)) continue
      this.#before.set(file.name, file)
      this.#files.set(file.name, file)
    }
  }

  /** Of those that were added, by name. */
  filesWith(prefix: FileNamePrefix): readonly File[] {
    return currentWith(this.#files, prefix, this.now).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** How many files have the prefix, if `before` of them had it before the operations. */
  matchedOf(prefix: FileNamePrefix, before: number): number {
    const [was, is] = [this.#before, this.#files].map((files) =>
      currentWith(files, prefix, this.now),
    )
    return before - (was?.length ?? 0) + (is?.length ?? 0)
  }

  /** `undefined` also for a version that left the history before the operations. */
  pastVersion(version: Version): FoundPast | 'gone' | undefined {
    return this.#past.get(version)
  }

  /** Later operations find the result. */
  apply(changes: readonly FileChange[]): void {
    for (const change of changes) {
      const { file, old } = change
      if (old !== undefined) this.#files.delete(old.name)
      if (file !== undefined) {
        this.#files.set(file.name, file)
        this.#past.delete(file.version)
      }
      if (old !== undefined && old.version !== file?.version) this.#end(old, change)
    }
  }

  #end(old: File, change: FileChange): void {
    const { now } = this
    const historyLifetimeMs = this.#historyLifetimeMs
    if (!becomesPast({ historyLifetimeMs }, change)) {
      this.#past.set(old.version, 'gone')
      return
    }
    const endedAs = change.file === undefined ? 'deleted' : 'replaced'
    const { isKept: _isKept, storedBy: _storedBy, expiresAt: fileExpiresAt, ...version } = old
    const expiresAt = Math.min(now + historyLifetimeMs, fileExpiresAt)
    const past = { ...version, endedAt: now, endedAs, expiresAt, fileExpiresAt } as const
    this.#past.set(old.version, { past, now })
  }
}

function currentWith(
  files: ReadonlyMap<FileName, File>,
  prefix: FileNamePrefix,
  now: number,
): readonly File[] {
  return [...files.values()].filter(({ name, expiresAt }) => {
    return expiresAt > now && name.startsWith(prefix)
  })
}

interface HoldingsOptions {
  readonly now: number
  readonly credential: string | undefined
  readonly historyLifetimeMs: number
  readonly files: readonly File[]
  readonly past: ReadonlyMap<Version, FoundPast | 'gone'>
}

interface Wanted extends Actor {
  readonly operations: readonly BatchOperation[]
}

/** Under the user's lock. */
export async function readHoldings(tx: LedgerTx, wanted: Wanted): Promise<Holdings> {
  const { userId, userCreatedAt, credential, operations } = wanted
  const versions = operations.flatMap((each) => (each.op === 'restore' ? each.version : []))
  const past = await readPast(tx, { userId, userCreatedAt, versions })
  const found = [...past.values()].filter((each) => each !== 'gone')
  const names = new Set(operations.flatMap((each) => namesOf(each)))
  for (const each of found) names.add(each.past.name)
  const rows = await readFiles(tx, { userId, names: [...names] })
  const files = rows.map(({ now: _now, ...file }) => file)
  const { historyLifetimeMs } = tx
  const now = Math.max(0, ...found.map((each) => each.now), ...rows.map((row) => row.now))
  return new Holdings({ now, credential, historyLifetimeMs, files, past })
}

function namesOf(operation: BatchOperation): readonly FileName[] {
  if (isByPrefix(operation)) return []
  const { op, name } = operation
  const names = op === 'update' ? [name, operation.newName] : [name]
  return names.filter((each) => each !== undefined)
}
