import type { UserId } from '../../../src/core/users/user-id.ts'
import type { Ending } from './resumable/offsets.ts'
import type { Moment } from './resumable/moments.ts'

/** What may not happen, by what it costs the user. */
export type ViolationKind = 'lost' | 'altered' | 'quota' | 'orphan' | 'feed' | 'other'

export interface Violation {
  readonly kind: ViolationKind
  readonly text: string
}

/** What a run has done and found so far. */
export class Tally {
  kills = 0
  /** Beside the kills of instances, those of the server of the object store. */
  storeKills = 0
  /** Of those the ones that hit just after the last byte of an upload. */
  aimedKills = 0
  /** Of the kills those by a full heap. */
  heapKills = 0
  /** Of the kills those exactly at a moment in the life of a resumable upload. */
  readonly momentKills: Partial<Record<Moment, number>> = {}
  requests = 0
  /** Of the requests those of tus. */
  tusRequests = 0
  appends = 0
  heads = 0
  /** Requests of tus that broke off or were told to come again. */
  interruptions = 0
  /** Responses 423. */
  busy = 0
  cancelledUploads = 0
  /** Resumable uploads that ended without their client. */
  readonly ended: Partial<Record<Ending, number>> = {}
  /** Uploads whose parts the store lost, because the connection of their completion broke. */
  cutCompletions = 0
  /** Offsets that were held against the oracle. */
  checkedOffsets = 0
  /** Rows of quotas that were held against files and reservations during the load. */
  checkedQuotas = 0
  /** Id and SHA-256 of every resumable upload that was acknowledged as a whole. */
  readonly finishedUploads = new Map<string, string>()
  acknowledgedUploads = 0
  /** What the acknowledged uploads have stored. */
  readonly acknowledgedContents: { readonly userId: UserId; readonly digest: string }[] = []
  /** Changes that were held against the files at the end. */
  checkedChanges = 0
  /** Changes that the receiver of webhooks has got. */
  deliveredChanges = 0
  refusedUploads = 0
  /** Past versions that were made current again. */
  restores = 0
  /** Folders that were moved or deleted whole. */
  changedFolders = 0
  /** Writes of which nobody knows whether they took effect. */
  unknownOutcomes = 0
  /** Reads whose content was held against the oracle. */
  checkedReads = 0
  /** Requests that a living instance answered with 503. */
  unavailable = 0
  readonly violations: Violation[] = []

  report(kind: ViolationKind, text: string): void {
    this.violations.push({ kind, text })
  }

  count(kind: ViolationKind): number {
    return this.violations.filter((violation) => violation.kind === kind).length
  }
}
