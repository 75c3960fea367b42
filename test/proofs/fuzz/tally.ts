export interface FuzzFinding {
  /** Of the case; `undefined` where it is of the run. */
  readonly number: number | undefined
  readonly text: string
  readonly bytes?: Buffer
  readonly received?: Buffer
}

/** What a run has done and found so far. */
export class FuzzTally {
  cases = 0
  readonly statuses = new Map<number, number>()
  /** Connections that ended without an answer. */
  unanswered = 0
  readonly findings: FuzzFinding[] = []
  readonly #onFinding: ((finding: FuzzFinding) => void) | undefined

  constructor(onFinding?: (finding: FuzzFinding) => void) {
    this.#onFinding = onFinding
  }

  count(statuses: readonly number[]): void {
    this.cases += 1
    if (statuses.length === 0) this.unanswered += 1
    for (const status of statuses) this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
  }

  report(finding: FuzzFinding): void {
    this.findings.push(finding)
    this.#onFinding?.(finding)
  }
}
