import { NEVER, type Visibility } from '../../../src/core/files/file.ts'
import type { UploadOutcome } from '../../../src/core/uploads/upload-ledger.ts'
import type { Usage } from '../../../src/core/users/account-ledger.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'

interface PendingUpload {
  readonly name: string
  /** The prefix of the files that it may evict, if it may. */
  readonly evict: string | undefined
  /** The narrow credential that began it. */
  readonly credential: string | undefined
  reserved: number
}

export interface ModelFile {
  /** Of the upload that brought it. */
  readonly version: string
  readonly size: number
  readonly visibility: Visibility
  readonly updatedAt: number
  /** By the ledger's clock. */
  readonly expiresAt: number
  readonly isKept: boolean
}

/** `ok` or an error's code; and for an upload that evicts, the bytes that it is told it could evict. */
export interface Answer {
  readonly code: string
  readonly evictable?: number
}

export interface Evicted {
  readonly files: number
  readonly bytes: number
}

interface Evicting {
  readonly evict: string | undefined
}

/** Of the limits, a narrow credential leaves the last tenth to others, and takes a quarter at most. */
interface Narrow {
  readonly credential: string | undefined
}

interface Write {
  readonly name: string
  readonly precondition: Precondition | undefined
}

/**
 * One user's ledger in plain arithmetic. Each method answers what the real one should: a result, or
 * an error's code. Time is `now`, and `date` that of the newest change; the test moves both.
 */
export class LedgerModel {
  active = true
  granted = 0
  now = 0
  date = 0
  /** Names in the order in which they were evicted. */
  readonly evicted: string[] = []
  /** Names of the files that were removed because they had expired. */
  readonly expired: string[] = []
  readonly #base: number
  readonly #maxFiles: number
  readonly #maxUploads: number
  readonly #files = new Map<string, ModelFile>()
  readonly #pending = new Map<string, PendingUpload>()
  readonly #settled = new Map<string, UploadOutcome>()
  readonly #evictedBy = new Map<string, Evicted>()

  constructor(options: {
    readonly base: number
    readonly maxFiles: number
    readonly maxUploads: number
  }) {
    this.#base = options.base
    this.#maxFiles = options.maxFiles
    this.#maxUploads = options.maxUploads
  }

  get uploads(): number {
    return this.#pending.size
  }

  get usage(): Usage {
    return {
      capacity: this.#base + this.granted,
      used: sum([...this.#files.values()].map(({ size }) => size)),
      reserved: sum([...this.#pending.values()].map(({ reserved }) => reserved)),
      fileCount: this.#files.size,
    }
  }

  sizeOf(name: string): number | undefined {
    return this.active ? this.#current(name)?.size : undefined
  }

  versionOf(name: string): string | undefined {
    return this.#current(name)?.version
  }

  isPending(id: string): boolean {
    return this.#pending.has(id)
  }

  isCommitted(id: string): boolean {
    return this.#settled.get(id) === 'committed'
  }

  /** What a commit has evicted; `undefined` for one that may not. */
  evictedBy(id: string): Evicted | undefined {
    return this.#evictedBy.get(id)
  }

  /** In no order. */
  list(): (ModelFile & { readonly name: string })[] {
    if (!this.active) return []
    return this.#all().filter((file) => !this.#isOver(file))
  }

  begin(
    upload: Write & Evicting & Narrow & { readonly id: string; readonly bytes: number },
  ): Answer {
    const { name, evict, credential } = upload
    const growth = this.#growth(name, upload.bytes)
    const refusal = this.#refusalOfDemand(upload)
    if (refusal !== undefined) return { code: refusal }
    if (this.#isBusy(upload)) return { code: 'too_many_requests' }
    const evictable = this.#evictable(upload)
    if (this.#isOneTooMany(upload, evictable.length)) return { code: 'file_count_exceeded' }
    if (!this.#hasRoomFor(growth, { ...upload, evictable })) return full(upload, evictable)
    const reserved = credential === undefined ? growth : 0
    this.#pending.set(upload.id, { name, evict, credential, reserved })
    return { code: 'ok' }
  }

  extend(id: string, bytes: number): Answer {
    const upload = this.#pending.get(id)
    if (upload === undefined) return { code: this.active ? 'unavailable' : 'user_suspended' }
    const growth = Math.max(0, this.#growth(upload.name, bytes) - upload.reserved)
    const evictable = this.#evictable(upload)
    if (!this.#hasRoomFor(growth, { id, evict: upload.evict, evictable })) {
      return this.active ? full(upload, evictable) : { code: 'user_suspended' }
    }
    upload.reserved += growth
    return { code: 'ok' }
  }

  commit(
    id: string,
    said: Pick<Write, 'precondition'> & {
      readonly size: number
      readonly visibility: Visibility | undefined
      readonly expiresInMs: number | undefined
    },
  ): Answer {
    const { size, precondition, expiresInMs } = said
    if (this.isCommitted(id)) return { code: 'ok' }
    const upload = this.#pending.get(id)
    if (upload === undefined) return { code: this.active ? 'unavailable' : 'user_suspended' }
    const { name, evict } = upload
    const refusal = this.#refusalOfDemand({ name, precondition })
    if (refusal !== undefined) return { code: refusal }
    const evictable = this.#evictable(upload)
    const leaving: string[] = []
    // One more of the oldest files at a time, until it fits.
    while (!this.#fits(upload, { id, size, leaving })) {
      const next = evictable[leaving.length]
      if (next === undefined) {
        const isCount = this.#isOneTooMany(upload, leaving.length)
        return isCount ? { code: 'file_count_exceeded' } : full(upload, evictable)
      }
      leaving.push(next.name)
    }
    if (evict !== undefined) {
      const gone = evictable.slice(0, leaving.length)
      this.#evictedBy.set(id, { files: gone.length, bytes: bytesOf(gone) })
    }
    for (const each of leaving) this.#files.delete(each)
    this.evicted.push(...leaving)
    this.#pending.delete(id)
    this.#settled.set(id, 'committed')
    this.#endIfExpired(name)
    const old = this.#files.get(name)
    this.#files.set(name, {
      version: id,
      size,
      visibility: said.visibility ?? old?.visibility ?? 'private',
      updatedAt: this.date,
      expiresAt: expiresInMs === undefined ? NEVER : this.now + expiresInMs,
      isKept: old?.isKept ?? false,
    })
    return { code: 'ok' }
  }

  abort(id: string): UploadOutcome {
    this.#pending.delete(id)
    const settled = this.#settled.get(id) ?? 'aborted'
    this.#settled.set(id, settled)
    return settled
  }

  remove(file: Write): string {
    const refusal = this.#refusalOfChange(file)
    if (refusal === undefined) this.#files.delete(file.name)
    return refusal ?? 'ok'
  }

  change(
    change: Write & {
      readonly newName: string | undefined
      readonly visibility: Visibility | undefined
      readonly overwrite: boolean
      readonly isKept: boolean | undefined
      readonly expiresAt: number | undefined
    },
  ): string {
    const { name, newName = name, overwrite } = change
    const file = this.#files.get(name)
    const refusal = this.#refusalOfChange(change)
    if (refusal !== undefined || file === undefined) return refusal ?? 'not_found'
    if (newName !== name && this.#current(newName) && !overwrite) return 'file_exists'
    if (newName !== name) this.#endIfExpired(newName)
    const { expiresAt = file.expiresAt, isKept = file.isKept } = change
    const isSame = expiresAt === file.expiresAt && isKept === file.isKept
    const keepsDate = newName === name && isSame
    this.#files.delete(name)
    this.#files.set(newName, {
      ...file,
      visibility: change.visibility ?? file.visibility,
      isKept,
      expiresAt,
      updatedAt: keepsDate ? file.updatedAt : this.date,
    })
    return 'ok'
  }

  /** Removes all that has expired, and returns how many files that are. */
  sweep(): number {
    const before = this.#files.size
    for (const { name } of this.#all()) this.#endIfExpired(name)
    return before - this.#files.size
  }

  #all(): (ModelFile & { readonly name: string })[] {
    return Array.from(this.#files, ([name, file]) => ({ name, ...file }))
  }

  /** A file of that name that is still found. */
  #current(name: string): ModelFile | undefined {
    const file = this.#files.get(name)
    return file === undefined || this.#isOver(file) ? undefined : file
  }

  #isOver({ expiresAt }: ModelFile): boolean {
    return expiresAt <= this.now
  }

  #endIfExpired(name: string): void {
    const file = this.#files.get(name)
    if (file === undefined || !this.#isOver(file)) return
    this.#files.delete(name)
    this.expired.push(name)
  }

  /** In the order in which they would go: expired ones first, then the oldest; of one time, by name. */
  #evictable({ name: own, evict }: Evicting & { readonly name: string }) {
    if (evict === undefined) return []
    const replaced = new Set([...this.#pending.values()].map((upload) => upload.name))
    const rank = (file: ModelFile): number => (this.#isOver(file) ? 0 : 1)
    return this.#all()
      .filter((file) => file.name.startsWith(evict) && (!file.isKept || this.#isOver(file)))
      .filter(({ name }) => name !== own && !replaced.has(name))
      .sort((a, b) => rank(a) - rank(b) || a.updatedAt - b.updatedAt || (a.name < b.name ? -1 : 1))
  }

  #fits(
    upload: PendingUpload,
    {
      id,
      size,
      leaving,
    }: { readonly id: string; readonly size: number; readonly leaving: readonly string[] },
  ): boolean {
    const { name, evict, reserved: own } = upload
    if (this.#isOneTooMany(upload, leaving.length)) return false
    const growth = this.#growth(name, size)
    const { capacity, used, reserved } = this.usage
    const left = used - sum(leaving.map((each) => this.#files.get(each)?.size ?? 0))
    const promised = reserved - own + growth
    if (growth === 0 || left + promised <= capacity) return true
    if (evict === undefined) return growth <= own && used + growth <= capacity
    return left + promised - this.#reservedByEvicting(id) <= capacity && promised <= capacity
  }

  #growth(name: string, bytes: number): number {
    return Math.max(0, bytes - (this.#files.get(name)?.size ?? 0))
  }

  #hasRoomFor(
    growth: number,
    upload: Evicting & { readonly id: string; readonly evictable: readonly ModelFile[] },
  ): boolean {
    const { capacity, used, reserved } = this.usage
    if (growth === 0 || used + reserved + growth <= capacity) return true
    if (upload.evict === undefined || reserved + growth > capacity) return false
    const left = used - bytesOf(upload.evictable)
    return left + reserved - this.#reservedByEvicting(upload.id) + growth <= capacity
  }

  /** By uploads other than this, which make that room themselves. */
  #reservedByEvicting(id: string): number {
    const others = [...this.#pending].filter(
      ([each, { evict }]) => each !== id && evict !== undefined,
    )
    return sum(others.map(([, { reserved }]) => reserved))
  }

  #refusalOfChange(file: Write): string | undefined {
    if (!this.active) return 'user_suspended'
    if (this.#current(file.name) === undefined) return 'not_found'
    return this.#meets(file) ? undefined : 'precondition_failed'
  }

  #meets({ name, precondition = {} }: Write): boolean {
    const { ifMatch, ifNoneMatch } = precondition
    const version = this.versionOf(name)
    const isAmong = (etags: NonNullable<typeof ifMatch>): boolean =>
      version !== undefined && (etags === '*' || etags.includes(version))
    if (ifMatch !== undefined && !isAmong(ifMatch)) return false
    return ifNoneMatch === undefined || !isAmong(ifNoneMatch)
  }

  #refusalOfDemand({ name, precondition }: Write): string | undefined {
    if (!this.active) return 'user_suspended'
    return this.#meets({ name, precondition }) ? undefined : 'precondition_failed'
  }

  #isBusy({ credential }: Narrow): boolean {
    const all = this.#pending.size
    if (credential === undefined) return all >= this.#maxUploads
    const own = [...this.#pending.values()].filter((each) => each.credential === credential)
    const isTaken = own.length >= Math.ceil(this.#maxUploads / 4)
    return isTaken || all >= withoutReserve(this.#maxUploads)
  }

  #isOneTooMany(
    { name, credential }: Narrow & { readonly name: string },
    evictable: number,
  ): boolean {
    const most = credential === undefined ? this.#maxFiles : withoutReserve(this.#maxFiles)
    return !this.#files.has(name) && this.#files.size - evictable >= most
  }
}

function withoutReserve(limit: number): number {
  return limit - Math.ceil(limit / 10)
}

function full({ evict }: Evicting, evictable: readonly ModelFile[]): Answer {
  const code = 'capacity_exceeded'
  return evict === undefined ? { code } : { code, evictable: bytesOf(evictable) }
}

function bytesOf(files: readonly ModelFile[]): number {
  return sum(files.map(({ size }) => size))
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
