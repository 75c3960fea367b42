import type { Settled, Usage } from '../../src/core/ledger.ts'

interface PendingUpload {
  readonly name: string
  reserved: number
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
  readonly #files = new Map<string, number>()
  readonly #pending = new Map<string, PendingUpload>()
  readonly #settled = new Map<string, Settled>()

  constructor(options: { readonly base: number; readonly maxFiles: number }) {
    this.#base = options.base
    this.#maxFiles = options.maxFiles
  }

  get usage(): Usage {
    return {
      capacity: this.#base + this.granted,
      used: sum(this.#files.values()),
      reserved: sum([...this.#pending.values()].map(({ reserved }) => reserved)),
      fileCount: this.#files.size,
    }
  }

  sizeOf(name: string): number | undefined {
    return this.active ? this.#files.get(name) : undefined
  }

  begin(upload: { readonly id: string; readonly name: string; readonly bytes: number }): string {
    const growth = this.#growth(upload.name, upload.bytes)
    const refusal = this.#refusal(upload.name)
    if (refusal !== undefined) return refusal
    if (!this.#hasRoomFor(growth)) return 'capacity_exceeded'
    this.#pending.set(upload.id, { name: upload.name, reserved: growth })
    return 'ok'
  }

  extend(id: string, bytes: number): string {
    const upload = this.#pending.get(id)
    if (upload === undefined) return 'unavailable'
    const growth = Math.max(0, this.#growth(upload.name, bytes) - upload.reserved)
    if (!this.#hasRoomFor(growth)) return this.active ? 'capacity_exceeded' : 'user_suspended'
    upload.reserved += growth
    return 'ok'
  }

  commit(id: string, size: number): string {
    if (this.#settled.get(id) === 'committed') return 'ok'
    const upload = this.#pending.get(id)
    if (upload === undefined) return 'unavailable'
    const refusal = this.#refusal(upload.name)
    if (refusal !== undefined) return refusal
    const growth = this.#growth(upload.name, size)
    const { capacity, used, reserved } = this.usage
    const within = growth <= upload.reserved && used + growth <= capacity
    const beside = used + reserved - upload.reserved + growth <= capacity
    if (growth > 0 && !within && !beside) return 'capacity_exceeded'
    this.#pending.delete(id)
    this.#settled.set(id, 'committed')
    this.#files.set(upload.name, size)
    return 'ok'
  }

  abort(id: string): Settled {
    this.#pending.delete(id)
    const settled = this.#settled.get(id) ?? 'aborted'
    this.#settled.set(id, settled)
    return settled
  }

  #growth(name: string, bytes: number): number {
    return Math.max(0, bytes - (this.#files.get(name) ?? 0))
  }

  #hasRoomFor(growth: number): boolean {
    const { capacity, used, reserved } = this.usage
    return growth === 0 || used + reserved + growth <= capacity
  }

  #refusal(name: string): string | undefined {
    if (!this.active) return 'user_suspended'
    const isNew = !this.#files.has(name)
    return isNew && this.#files.size >= this.#maxFiles ? 'file_count_exceeded' : undefined
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
