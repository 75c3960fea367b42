import type { Ledger } from '../../../../src/database/ledger.ts'
import type { Faults } from './faults.ts'
import type { Random } from '../plan/random.ts'
import type { Actor, Timeline } from './timeline.ts'

/** A method of the ledger that the service asks for. */
export type AskedCall = {
  readonly [M in keyof Ledger]: {
    readonly method: M
    readonly argument: Parameters<Ledger[M]>[0]
    readonly actor: Actor | undefined
  }
}[keyof Ledger]

/** A call that has had its effect, or has failed without one. */
export type AppliedCall = {
  readonly [M in keyof Ledger]: {
    readonly method: M
    readonly argument: Parameters<Ledger[M]>[0]
    readonly actor: Actor | undefined
    readonly outcome: PromiseSettledResult<Awaited<ReturnType<Ledger[M]>>>
  }
}[keyof Ledger]

/** A request with content. */
export interface SentRequest {
  readonly method: 'PutObject' | 'UploadPart'
  readonly key: string
  /** Whether the bucket will store less of it than it confirms. */
  readonly isTruncated: boolean
  readonly actor: Actor | undefined
}

/** Sees all that passes between the service and what it stands on. */
export interface Observer {
  /** It has had no effect yet. */
  asked(call: AskedCall): void
  applied(call: AppliedCall): void
  /** The service sends content to the bucket. */
  sending(request: SentRequest): void
  /** The service asks the bucket to remove what is under `key`. */
  removing(removal: { readonly key: string; readonly actor: Actor | undefined }): void
  /** The bucket has done what a request asks for. */
  stored(): void
}

/** What stands between the service and its ports. */
export interface Seam {
  readonly timeline: Timeline
  readonly random: Random
  readonly faults: Faults
  readonly observer: Observer
  /** Ids of multipart uploads that were created when nobody waited for them any more. */
  readonly strays: Set<string>
}

/** How long something takes that works: mostly milliseconds, so that orders vary. */
export function latency(random: Random): number {
  if (random.chance(0.8)) return 1 + random.below(10)
  return 1 + random.below(random.chance(0.8) ? 100 : 1000)
}
