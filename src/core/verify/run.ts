import { type Finding, FINDING_KINDS, type FindingKind } from './finding.ts'
import type { Inventory } from './inventory.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { UserId } from '../users/user-id.ts'

export interface VerifierOptions {
  readonly inventory: Inventory
  readonly objects: ObjectStore
  /** How long an orphan that was handed to garbage is kept, in milliseconds. */
  readonly garbageDelayMs: number
}

export interface VerifyRequest {
  /** One user, or all, and the objects of users that nobody knows, when `undefined`. */
  readonly userId: UserId | undefined
  /** Mends what can be mended without loss; without it nothing is written. */
  readonly repair: boolean
  /** Reads one file in so many, chosen at random, and compares its digest; 1 reads all, `undefined` none. */
  readonly readOneIn: number | undefined
  /** Called with every finding as it is made; none is kept. */
  readonly onFinding: (finding: Finding) => void
  /** Called often, with the figures so far. */
  readonly onProgress?: (verification: Verification) => void
  readonly signal: AbortSignal
}

/** What a run has looked at and found. */
export interface Verification {
  users: number
  files: number
  objects: number
  /** Files whose content was read, and its bytes. */
  readFiles: number
  readBytes: number
  /** By kind, those that this run mended not included. */
  readonly remaining: Record<FindingKind, number>
  repaired: number
}

/** What one run works with; its parts report to it. */
export interface VerifyRun extends VerifierOptions, VerifyRequest {
  readonly verification: Verification
  readonly report: (finding: Finding) => void
}

export function startRun(options: VerifierOptions, request: VerifyRequest): VerifyRun {
  const none = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, 0]))
  const verification: Verification = {
    users: 0,
    files: 0,
    objects: 0,
    readFiles: 0,
    readBytes: 0,
    remaining: none as Record<FindingKind, number>,
    repaired: 0,
  }
  const report = (finding: Finding): void => {
    if (finding.repaired) verification.repaired += 1
    else verification.remaining[finding.kind] += 1
    request.onFinding(finding)
  }
  return { ...options, ...request, verification, report }
}
