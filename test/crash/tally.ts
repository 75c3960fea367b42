/** What may not happen, by what it costs the user. */
export type ViolationKind = 'lost' | 'altered' | 'quota' | 'orphan' | 'other'

export interface Violation {
  readonly kind: ViolationKind
  readonly text: string
}

/** What a run has done and found so far. */
export class Tally {
  kills = 0
  /** Of those the ones that hit just after the last byte of an upload. */
  aimedKills = 0
  /** Of the kills those by a full heap. */
  heapKills = 0
  requests = 0
  acknowledgedUploads = 0
  refusedUploads = 0
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
