import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { HeldCounts, type Holder } from '../../core/quota/held-counts.ts'
import { tooManyOf } from '../../core/quota/shares.ts'
import { clientAddressOf } from './forwarded.ts'
import { breakOff } from './request-outcome.ts'

export interface ReaderLimits {
  /** Maximum per user, of which a narrow credential has a share, or per address without a token. */
  readonly perOwner: number
  /** Maximum in all. */
  readonly total: number
  /** What is counted, for the refusal's detail: `downloads in progress`. */
  readonly counted: string
}

export interface Reader extends Holder {
  /** The user, or the address without a token. */
  readonly owner: string
  readonly isUser: boolean
}

export interface ReaderSlot {
  readonly reader: Reader
  /** How much of the limits it takes. */
  readonly size: number
  /** Bytes that its client has taken so far; a slow one gives way. */
  readonly progress: () => number
  /** Ends the answer. Called at most once, and never after `release`. */
  readonly giveWay: () => void
}

export function ownerOf(request: FastifyRequest): Reader {
  const { subject } = request
  if (subject?.kind !== 'user') {
    return { owner: `address ${clientAddressOf(request)}`, isUser: false }
  }
  const { userId, credential } = subject
  return { owner: `user ${userId}`, credential, isUser: true }
}

/** A younger answer has no meaningful rate yet. */
const GRACE_MS = 5_000

/** Slower readers give way when the limit is reached. Uploads have the same limit. */
const SLOW_BYTES_PER_SECOND = 64 * 1024

const REFUSING_MS = 5_000

const WAIT_MS = 5_000

/**
 * Limits the answers that wait for their readers. When full, the slowest reader below 64 KiB/s gives way; for a user, so
 * does any reader without a token.
 */
export class ReaderSlots {
  readonly #limits: ReaderLimits
  readonly #taken = new Map<ReaderSlot, Taken>()
  readonly #perOwner: HeldCounts
  readonly #now: () => number
  #total = 0
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(limits: ReaderLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#perOwner = new HeldCounts(limits.perOwner)
    this.#now = now
  }

  /** Whether an answer was just refused because the limit was reached. */
  isRefusing(): boolean {
    return this.#now() - this.#refusedAt < REFUSING_MS
  }

  /** Returns an idempotent release. Throws `too_many_requests` (owner's limit) or `unavailable` (none gives way). */
  take(slot: ReaderSlot): () => void {
    const { total, counted } = this.#limits
    const { size, reader } = slot
    const reached = this.#perOwner.reached(reader, size)
    if (reached !== undefined)
      throw tooManyOf(reached, counted, { waitMs: WAIT_MS, whose: 'user or address' })
    while (this.#total + size > total) {
      if (this.#endOneFor(slot)) continue
      this.#refusedAt = this.#now()
      throw new AppError('unavailable', `The service already has the maximum number of ${counted}.`)
    }
    const release = (): void => {
      if (!this.#taken.delete(slot)) return
      this.#add(reader, -size)
    }
    this.#taken.set(slot, { since: this.#now(), bytes: slot.progress(), release })
    this.#add(reader, size)
    return release
  }

  #add(reader: Reader, size: number): void {
    this.#total += size
    this.#perOwner.add(reader, size)
  }

  #endOneFor({ reader }: ReaderSlot): boolean {
    const leaving =
      this.#slowest(({ ageMs, rate }) => ageMs >= GRACE_MS && rate < SLOW_BYTES_PER_SECOND) ??
      // Otherwise anonymous clients could keep every user out.
      (reader.isUser ? this.#slowest(({ slot }) => !slot.reader.isUser) : undefined)
    if (leaving === undefined) return false
    this.#taken.get(leaving)?.release()
    leaving.giveWay()
    return true
  }

  #slowest(mayLeave: (answer: Answer) => boolean): ReaderSlot | undefined {
    const now = this.#now()
    let slowest: Answer | undefined
    for (const [slot, { since, bytes }] of this.#taken) {
      const ageMs = now - since
      const rate = ((slot.progress() - bytes) * 1000) / Math.max(1, ageMs)
      const answer = { slot, ageMs, rate }
      if (mayLeave(answer) && rate < (slowest?.rate ?? Infinity)) slowest = answer
    }
    return slowest?.slot
  }
}

interface Taken {
  readonly since: number
  readonly bytes: number
  readonly release: () => void
}

interface Answer {
  readonly slot: ReaderSlot
  readonly ageMs: number
  /** Average bytes per second since the answer began. */
  readonly rate: number
}

interface HeldSlot {
  /** The caller by default. */
  readonly reader?: Reader
  readonly size?: number
  /** What gives way, and to what: `download`. */
  readonly kind: string
  /** Bytes of the answer by default. */
  readonly progress?: () => number
}

/** Takes a slot until the answer has ended. Throws as `ReaderSlots.take`. */
export function holdSlot(slots: ReaderSlots, reply: FastifyReply, held: HeldSlot): void {
  const { raw, request } = reply
  const { socket } = request.raw
  const { reader = ownerOf(request), size = 1, kind, progress = () => takenBytes(socket) } = held
  const giveWay = (): void => breakOff(reply, `it gave way to another ${kind}`)
  raw.once('close', slots.take({ reader, size, progress, giveWay }))
}

/** Bytes the kernel has taken; a write in progress counts when it is complete. */
export function takenBytes(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength
}
