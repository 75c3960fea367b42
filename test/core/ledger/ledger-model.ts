import type { Visibility } from '../../../src/core/files/file.ts'
import type { UploadOutcome } from '../../../src/core/uploads/upload-ledger.ts'
import type { Usage } from '../../../src/core/users/account-ledger.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'

interface PendingUpload {
  readonly name: string
  reserved: number
}

interface ModelFile {
  /** Of the upload that brought it. */
  readonly version: string
  readonly size: number
  readonly visibility: Visibility
}

interface Write {
  readonly name: string
  readonly precondition: Precondition | undefined
}

/**
 * One user's ledger in plain arithmetic. Each method answers what the real one should: a result, or
 * an error's code.
 */
export class LedgerModel {
  active = true
  granted = 0
  readonly #base: number
  readonly #maxFiles: number
  readonly #maxUploads: number
  readonly #files = new Map<string, ModelFile>()
  readonly #pending = new Map<string, PendingUpload>()
  readonly #settled = new Map<string, UploadOutcome>()

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
    return this.active ? this.#files.get(name)?.size : undefined
  }

  versionOf(name: string): string | undefined {
    return this.#files.get(name)?.version
  }

  /** In no order. */
  list(): (ModelFile & { readonly name: string })[] {
    if (!this.active) return []
    return Array.from(this.#files, ([name, file]) => {
      const { version, size, visibility } = file
      return { name, version, size, visibility }
    })
  }

  begin(upload: Write & { readonly id: string; readonly bytes: number }): string {
    const growth = this.#growth(upload.name, upload.bytes)
    const refusal = this.#refusalOfDemand(upload)
    if (refusal !== undefined) return refusal
    if (this.#pending.size >= this.#maxUploads) return 'too_many_requests'
    if (this.#isOneTooMany(upload.name)) return 'file_count_exceeded'
    if (!this.#hasRoomFor(growth)) return 'capacity_exceeded'
    this.#pending.set(upload.id, { name: upload.name, reserved: growth })
    return 'ok'
  }

  extend(id: string, bytes: number): string {
    const upload = this.#pending.get(id)
    if (upload === undefined) return this.active ? 'unavailable' : 'user_suspended'
    const growth = Math.max(0, this.#growth(upload.name, bytes) - upload.reserved)
    if (!this.#hasRoomFor(growth)) return this.active ? 'capacity_exceeded' : 'user_suspended'
    upload.reserved += growth
    return 'ok'
  }

  commit(
    id: string,
    said: Pick<Write, 'precondition'> & {
      readonly size: number
      readonly visibility: Visibility | undefined
    },
  ): string {
    const { size, precondition } = said
    if (this.#settled.get(id) === 'committed') return 'ok'
    const upload = this.#pending.get(id)
    if (upload === undefined) return this.active ? 'unavailable' : 'user_suspended'
    const refusal = this.#refusalOfDemand({ name: upload.name, precondition })
    if (refusal !== undefined) return refusal
    if (this.#isOneTooMany(upload.name)) return 'file_count_exceeded'
    const growth = this.#growth(upload.name, size)
    const { capacity, used, reserved } = this.usage
    const within = growth <= upload.reserved && used + growth <= capacity
    const beside = used + reserved - upload.reserved + growth <= capacity
    if (growth > 0 && !within && !beside) return 'capacity_exceeded'
    this.#pending.delete(id)
    this.#settled.set(id, 'committed')
    const kept = this.#files.get(upload.name)?.visibility ?? 'private'
    this.#files.set(upload.name, { version: id, size, visibility: said.visibility ?? kept })
    return 'ok'
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
    },
  ): string {
    const { name, newName = name, overwrite } = change
    const file = this.#files.get(name)
    const refusal = this.#refusalOfChange(change)
    if (refusal !== undefined || file === undefined) return refusal ?? 'not_found'
    if (newName !== name && this.#files.has(newName) && !overwrite) return 'file_exists'
    this.#files.delete(name)
    this.#files.set(newName, { ...file, visibility: change.visibility ?? file.visibility })
    return 'ok'
  }

  #growth(name: string, bytes: number): number {
    return Math.max(0, bytes - (this.#files.get(name)?.size ?? 0))
  }

  #hasRoomFor(growth: number): boolean {
    const { capacity, used, reserved } = this.usage
    return growth === 0 || used + reserved + growth <= capacity
  }

  #refusalOfChange(file: Write): string | undefined {
    if (!this.active) return 'user_suspended'
    if (!this.#files.has(file.name)) return 'not_found'
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

  #isOneTooMany(name: string): boolean {
    return !this.#files.has(name) && this.#files.size >= this.#maxFiles
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
