import { Headroom, type HeadroomOptions } from './headroom.ts'

export interface MemoryPoolOptions {
  /** Bytes in all, without the reserve. */
  readonly bytes: number
  /** Bytes of these that are not taken but claimed: as many as the largest claim of whoever may have taken some before. */
  readonly keptForClaims: number
  /** From which claims of users who have little are granted though the rest is taken. */
  readonly reserve: HeadroomOptions
}

export interface MemoryRequest {
  /** Whose it is. */
  readonly userId: string
  readonly bytes: number
  /** Called when the bytes are the claimant's, in the very moment. */
  readonly grant: () => void
}

interface Waiting extends MemoryRequest {
  turn: number
}

/**
 * Shares out a number of bytes. They can be taken as they are needed, as long as the largest claim still fits beside; what
 * is not there to be taken is claimed, and waits in line. Each user is served as often as any other who waits, however many claims
 * either has: those of one user are a turn apart, and who comes anew begins where the line is (start-time fair queueing).
 * A small claim of a user who has little does not wait: there is a reserve for it.
 *
 * It never comes to a standstill when whoever claims asks for all that is missing until all of it, what was taken before
 * included, can be given back. For what is free, together with what those have who have all that they need, is never less
 * than the largest claim: taking leaves that much free; a grant moves bytes from the one to the other, and adds what its
 * claimant had taken; giving back moves them the other way. So when nobody is left who has all, the first in line is served.
 * What is granted from the reserve comes on top. What a user gives back is the room's as long as the user has any of it, so
 * that whoever is the first in line gets what others give back, however many small claims these have.
 */
export class MemoryPool {
  readonly #bytes: number
  readonly #keptForClaims: number
  readonly #reserve: Headroom
  #free: number
  /** What each user has of the room, without what is from the reserve. */
  readonly #held = new Map<string, number>()
  /** Sorted by turn; of equals, who came first. */
  readonly #line: Waiting[] = []
  /** The turn that was served last, and the last turn of each user from then on. */
  #turn = 0
  readonly #lastTurns = new Map<string, number>()
  #givenBack = 0
  #watched: { readonly first: MemoryRequest | undefined; ms: number } = { first: undefined, ms: 0 }

  constructor({ bytes, keptForClaims, reserve }: MemoryPoolOptions) {
    this.#bytes = bytes
    this.#free = bytes
    this.#keptForClaims = keptForClaims
    this.#reserve = new Headroom(reserve)
  }

  /** Bytes that can be taken; none, or less, when only claims are served. */
  get free(): number {
    return this.#free - this.#keptForClaims
  }

  /** Who is served next. */
  get first(): MemoryRequest | undefined {
    return this.#line[0]
  }

  /** Bytes that were taken or granted. */
  get taken(): number {
    return this.#bytes - this.#free + this.#reserve.taken
  }

  /** How many claims wait. */
  get waiting(): number {
    return this.#line.length
  }

  /** For how long that one has been the first, as far as ticks have shown it. */
  get firstWaitedMs(): number {
    return this.first === this.#watched.first ? this.#watched.ms : 0
  }

  /** Bytes that are missing for the first of those who wait, and for all of them. */
  get lacking(): { readonly first: number; readonly all: number } {
    const all = this.#line.reduce((sum, { bytes }) => sum + bytes, 0)
    return { first: (this.first?.bytes ?? 0) - this.#free, all: all - this.#free }
  }

  /** Bytes that have been given back so far, by which those who wait see whether the line moves. */
  get givenBack(): number {
    return this.#givenBack
  }

  /** Takes `bytes` for the user, or says that they are not there. Nobody overtakes those who wait. */
  take(userId: string, bytes: number): boolean {
    if (this.#line.length > 0 || bytes > this.free) return false
    this.#hold(userId, bytes)
    return true
  }

  /** Grants the claim once its turn has come and the bytes are there, unless it is withdrawn before by what it returns. */
  request(request: MemoryRequest): () => void {
    const turn = Math.max(this.#turn, (this.#lastTurns.get(request.userId) ?? -1) + 1)
    this.#lastTurns.set(request.userId, turn)
    const waiting = { ...request, turn }
    const later = this.#line.findIndex((other) => other.turn > turn)
    this.#line.splice(later < 0 ? this.#line.length : later, 0, waiting)
    this.#serve()
    return () => {
      this.#leave(waiting)
      this.#serve()
    }
  }

  /** Takes back `bytes` of what the user has. */
  give(userId: string, bytes: number): void {
    const held = this.#held.get(userId) ?? 0
    const back = Math.min(held, bytes)
    if (back < held) this.#held.set(userId, held - back)
    else this.#held.delete(userId)
    this.#free += back
    this.#reserve.give(userId, bytes - back)
    this.#givenBack += bytes
    this.#serve()
  }

  /** So much time has passed. */
  tick(ms: number): void {
    const { first } = this
    if (first === this.#watched.first) this.#watched.ms += ms
    else this.#watched = { first, ms: 0 }
  }

  #hold(userId: string, bytes: number): void {
    this.#free -= bytes
    this.#held.set(userId, (this.#held.get(userId) ?? 0) + bytes)
  }

  #serve(): void {
    for (let first = this.#line[0]; first !== undefined; first = this.#line[0]) {
      if (first.bytes > this.#free) break
      this.#line.shift()
      this.#hold(first.userId, first.bytes)
      this.#advance(first.turn)
      first.grant()
    }
    this.#serveFromReserve()
  }

  #serveFromReserve(): void {
    const served = this.#line.filter(({ userId, bytes }) => this.#reserve.take(userId, bytes))
    for (const waiting of served) {
      this.#leave(waiting)
      waiting.grant()
    }
  }

  /** Leaves the line without having had its turn, which the user's next claim takes over. */
  #leave(waiting: Waiting): void {
    const at = this.#line.indexOf(waiting)
    if (at < 0) return
    this.#line.splice(at, 1)
    const { userId } = waiting
    const last = (this.#lastTurns.get(userId) ?? 0) - 1
    if (last < this.#turn) this.#lastTurns.delete(userId)
    else this.#lastTurns.set(userId, last)
    for (const later of this.#line.slice(at)) if (later.userId === userId) later.turn -= 1
    this.#line.sort((a, b) => a.turn - b.turn)
  }

  #advance(turn: number): void {
    if (turn === this.#turn) return
    this.#turn = turn
    for (const [user, last] of this.#lastTurns) if (last < turn) this.#lastTurns.delete(user)
  }
}
