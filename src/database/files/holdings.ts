import type { FileChange } from '../../core/files/file-change.ts'
import type { File } from '../../core/files/file.ts'
import type { FileName } from '../../core/files/file-name.ts'
import type { FileOperation } from '../../core/files/operation.ts'
import type { Version } from '../../core/objects/object-key.ts'
import type { Actor } from '../../core/users/caller.ts'
import { type FoundPast, readPast } from '../history/past-versions.ts'
import { becomesPast } from '../ledger/changed-rows.ts'
import { type Holding, holdingOf, type LedgerTx } from '../ledger/ledger-sql.ts'
import { readFiles } from '../ledger/read-files.ts'

/** The files and past versions of a user that operations name, in memory. */
export class Holdings {
  /** The time of the changes, by the database's clock. 0 if nothing was found, so that nothing can change. */
  readonly now: number
  /** Of the caller. */
  readonly credential: string | undefined
  readonly #historyLifetimeMs: number
  readonly #files: Map<FileName, File>
  readonly #past: Map<Version, FoundPast | 'gone'>

  constructor({ now, credential, historyLifetimeMs, files, past }: HoldingsOptions) {
    this.now = now
    this.credential = credential
    this.#historyLifetimeMs = historyLifetimeMs
    this.#files = new Map(files.map((file) => [file.name, file]))
    this.#past = new Map(past)
  }

  fileNamed(name: FileName): Holding {
    return holdingOf(this.#files.get(name), this.now)
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

interface HoldingsOptions {
  readonly now: number
  readonly credential: string | undefined
  readonly historyLifetimeMs: number
  readonly files: readonly File[]
  readonly past: ReadonlyMap<Version, FoundPast | 'gone'>
}

interface Wanted extends Actor {
  readonly operations: readonly FileOperation[]
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

function namesOf(operation: FileOperation): readonly FileName[] {
  const { op, name } = operation
  const names = op === 'update' ? [name, operation.newName] : [name]
  return names.filter((each) => each !== undefined)
}
