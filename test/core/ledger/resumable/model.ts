import { PART_SIZE, TAIL_RETENTION_MS } from './fixture.ts'

/** What an object counts beside its content. */
const OVERHEAD = 4096

interface ModelPiece {
  readonly firstByte: number
  readonly size: number
  readonly key: string | undefined
}

export interface ModelUpload {
  readonly name: string
  readonly isNew: boolean
  readonly endsAt: number
  length: number | undefined
  announced: number
  reserved: number
  offset: number
  epoch: number
  holder: string | undefined
  heldUntil: number
  leaseUntil: number
  isSealed: boolean
  /** `forgotten`: nothing is told of it. */
  state: 'pending' | 'finished' | 'cancelled' | 'expired' | 'lost' | 'forgotten'
  tailKey: string | undefined
  pieces: readonly ModelPiece[]
}

interface Limits {
  readonly base: number
  readonly maxFiles: number
  readonly maxUnfinished: number
}

/**
 * One user's resumable uploads in plain arithmetic. Each method answers what the ledger should: a result, or a code.
 */
export class ResumableModel {
  granted = 0
  now = 0
  garbageBytes = 0
  /** Latest times at which tails that were left may be removed. */
  readonly leftUntil = new Map<string, number>()
  /** Keys of tails under which nothing was sent. */
  readonly forgottenKeys = new Set<string>()
  readonly #limits: Limits
  readonly #files = new Map<string, number>()
  readonly #uploads: ModelUpload[] = []

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get usage() {
    return {
      capacity: this.#limits.base + this.granted,
      used: sum([...this.#files.values()]),
      reserved: sum(this.#pending().map(({ reserved }) => reserved)),
      fileCount: this.#files.size,
    }
  }

  get running(): number {
    return this.#unfinished().filter(({ heldUntil }) => heldUntil > this.now).length
  }

  unfinished(except?: ModelUpload): { readonly count: number; readonly bytes: number } {
    const others = this.#unfinished().filter((upload) => upload !== except)
    return { count: others.length, bytes: sum(others.map(({ announced }) => announced)) }
  }

  stateOf(upload: ModelUpload): string {
    if (upload.state !== 'pending') return upload.state
    if (upload.leaseUntil <= this.now) return 'expired'
    return upload.isSealed ? 'sealed' : 'open'
  }

  create(upload: ModelUpload): string {
    const { name, announced } = upload
    if (upload.isNew && this.#files.has(name)) return 'precondition_failed'
    if (this.unfinished().count >= this.#limits.maxUnfinished) return 'unfinished_uploads_exceeded'
    const growth = this.#growth(name, announced)
    if (this.#isOneTooMany(name)) return 'file_count_exceeded'
    if (!this.#hasRoom(growth, 0)) return 'capacity_exceeded'
    if (!this.#mayAnnounce(upload, announced)) return 'unfinished_uploads_exceeded'
    upload.reserved = growth
    this.#uploads.push(upload)
    return 'ok'
  }

  prepare(upload: ModelUpload, bytes: number, length: number | undefined): string {
    if (upload.state === 'forgotten') return 'not_found'
    if (upload.state === 'finished') return 'upload_busy'
    if (!this.#isUnfinished(upload)) return 'upload_gone'
    const isRight =
      upload.length === undefined ? (length ?? 0) >= upload.offset : length === upload.length
    if (length !== undefined && !isRight) return 'invalid_parameter'
    const refusal = this.#refusal(upload, bytes)
    if (refusal !== undefined) return refusal
    const announced = Math.max(upload.announced, bytes)
    if (announced > upload.announced && !this.#mayAnnounce(upload, announced)) {
      return 'unfinished_uploads_exceeded'
    }
    const isDeclared = length === undefined || upload.length !== undefined
    if (!isDeclared && upload.heldUntil > this.now) return 'upload_busy'
    upload.announced = announced
    upload.length ??= length
    upload.reserved = Math.max(upload.reserved, this.#growth(upload.name, bytes))
    return 'ok'
  }

  claim(upload: ModelUpload, claim: { offset: number; ms: number; tailKey: string | undefined }) {
    if (upload.isSealed || upload.offset !== claim.offset || !this.#isFree(upload)) return undefined
    this.#leaveUnused(upload)
    this.#hold(upload, claim.ms)
    upload.tailKey = claim.tailKey
    return upload.epoch
  }

  finish(upload: ModelUpload, ms: number): number | undefined {
    if (!upload.isSealed || !this.#isFree(upload)) return undefined
    this.#hold(upload, ms)
    return upload.epoch
  }

  record(
    upload: ModelUpload,
    record: {
      readonly epoch: number
      readonly offset: number
      readonly replacedFrom: number
      readonly pieces: readonly ModelPiece[]
      readonly lifetimeMs: number
      readonly holderMs: number | undefined
      readonly isSealed: boolean
    },
  ): boolean {
    const { epoch, offset, replacedFrom, pieces, holderMs } = record
    const isHolder = upload.holder !== undefined && epoch === upload.epoch
    if (!this.#isUnfinished(upload) || !isHolder || offset < upload.offset) return false
    const isProgress = offset > upload.offset
    upload.offset = offset
    const replaced = upload.pieces.filter(({ firstByte }) => firstByte >= replacedFrom)
    upload.pieces = upload.pieces.filter(({ firstByte }) => firstByte < replacedFrom).concat(pieces)
    this.#leave(replaced)
    upload.isSealed ||= record.isSealed
    this.#prolong(upload, isProgress ? record.lifetimeMs : (holderMs ?? 0))
    if (holderMs === undefined) this.#release(upload)
    else upload.heldUntil = this.now + holderMs
    if (record.isSealed) this.#endTail(upload)
    return true
  }

  fence(upload: ModelUpload): void {
    if (upload.isSealed || upload.state === 'forgotten') return
    upload.epoch += 1
    upload.heldUntil = 0
  }

  endFinish(upload: ModelUpload, epoch: number): void {
    if (!upload.isSealed || upload.epoch !== epoch) return
    upload.holder = undefined
    upload.heldUntil = 0
  }

  abort(upload: ModelUpload, endedAs: 'cancelled' | 'expired' | 'lost'): string {
    if (upload.state === 'finished') return 'committed'
    if (upload.state !== 'pending') return 'aborted'
    upload.reserved = 0
    if (upload.epoch === 0) {
      upload.state = 'forgotten'
      return 'forgotten'
    }
    upload.state = endedAs
    this.garbageBytes += OVERHEAD
    this.#leave(upload.pieces)
    this.#leaveUnused(upload)
    upload.pieces = []
    return 'aborted'
  }

  commit(upload: ModelUpload): string {
    if (upload.state === 'finished') return 'ok'
    if (upload.state !== 'pending') return 'unavailable'
    const refusal = this.#refusal(upload, upload.offset)
    if (refusal !== undefined) return refusal
    upload.state = 'finished'
    upload.reserved = 0
    this.#put(upload.name, upload.offset)
    return 'ok'
  }

  put(name: string, size: number): string {
    if (this.#isOneTooMany(name)) return 'file_count_exceeded'
    if (!this.#hasRoom(this.#growth(name, size), 0)) return 'capacity_exceeded'
    this.#put(name, size)
    return 'ok'
  }

  remove(name: string): string {
    const size = this.#files.get(name)
    if (size === undefined) return 'not_found'
    this.garbageBytes += size + OVERHEAD
    this.#files.delete(name)
    return 'ok'
  }

  #put(name: string, size: number): void {
    const replaced = this.#files.get(name)
    if (replaced !== undefined) this.garbageBytes += replaced + OVERHEAD
    this.#files.set(name, size)
  }

  #refusal(upload: ModelUpload, size: number): string | undefined {
    if (upload.isNew && this.#files.has(upload.name)) return 'precondition_failed'
    if (this.#isOneTooMany(upload.name)) return 'file_count_exceeded'
    const fits = this.#hasRoom(this.#growth(upload.name, size), upload.reserved)
    return fits ? undefined : 'capacity_exceeded'
  }

  #hasRoom(growth: number, own: number): boolean {
    const { capacity, used, reserved } = this.usage
    if (growth === 0 || used + reserved - own + growth <= capacity) return true
    return growth <= own && used + growth <= capacity
  }

  #mayAnnounce(upload: ModelUpload, announced: number): boolean {
    const { count, bytes } = this.unfinished(upload)
    return count === 0 || bytes + announced <= this.usage.capacity
  }

  #growth(name: string, bytes: number): number {
    return Math.max(0, bytes - (this.#files.get(name) ?? 0))
  }

  #isOneTooMany(name: string): boolean {
    return !this.#files.has(name) && this.#files.size >= this.#limits.maxFiles
  }

  #pending(): readonly ModelUpload[] {
    return this.#uploads.filter(({ state }) => state === 'pending')
  }

  #unfinished(): readonly ModelUpload[] {
    return this.#pending().filter((upload) => this.#isUnfinished(upload))
  }

  #isUnfinished({ state, leaseUntil }: ModelUpload): boolean {
    return state === 'pending' && leaseUntil > this.now
  }

  #isFree(upload: ModelUpload): boolean {
    return this.#isUnfinished(upload) && (!upload.holder || upload.heldUntil <= this.now)
  }

  #hold(upload: ModelUpload, ms: number): void {
    upload.epoch += 1
    upload.holder = 'here'
    upload.heldUntil = this.now + ms
    this.#prolong(upload, ms)
  }

  #release(upload: ModelUpload): void {
    this.#endTail(upload)
    upload.holder = undefined
    upload.heldUntil = 0
  }

  /** Nothing was sent under a key that holds no piece. */
  #endTail(upload: ModelUpload): void {
    if (this.#isTailUnused(upload)) this.forgottenKeys.add(upload.tailKey ?? '')
    upload.tailKey = undefined
  }

  #prolong(upload: ModelUpload, ms: number): void {
    const until = Math.min(upload.endsAt, this.now + ms)
    upload.leaseUntil = Math.max(upload.leaseUntil, until)
  }

  #leave(pieces: readonly ModelPiece[]): void {
    for (const { key, size } of pieces) {
      if (key === undefined) continue
      this.garbageBytes += size + OVERHEAD
      this.leftUntil.set(key, this.now + TAIL_RETENTION_MS)
    }
  }

  #leaveUnused(upload: ModelUpload): void {
    const { tailKey, length = PART_SIZE } = upload
    if (tailKey === undefined || !this.#isTailUnused(upload)) return
    this.garbageBytes += Math.min(PART_SIZE, length) + OVERHEAD
    this.leftUntil.set(tailKey, this.now + TAIL_RETENTION_MS)
  }

  #isTailUnused({ tailKey, pieces }: ModelUpload): boolean {
    if (tailKey === undefined || this.leftUntil.has(tailKey)) return false
    return !pieces.some(({ key }) => key === tailKey)
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
