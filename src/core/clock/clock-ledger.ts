/** PORT: the safe time of all instances. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface ClockLedger {
  readClock(): Promise<StoredClock>

  /** Resolves to `false`, and changes nothing, if what is stored is not `before`. */
  storeClock(clock: {
    readonly before: string | undefined
    readonly after: string
    readonly safe: number
  }): Promise<boolean>

  /**
   * Brings back what a clock that was ahead has put off: an upload's lease, a holder, and garbage, to the longest time
   * that each can take from now; what destroys nothing, such as the next attempt of a webhook beyond `retryMs`, to now.
   */
  pullBack(longest: {
    /** How much longer than its delay garbage may be kept. */
    readonly unseenMs: number
    readonly retryMs: number
  }): Promise<void>
}

export interface StoredClock {
  /** The database's clock, milliseconds since 1970. */
  readonly now: number
  /** JSON of a `SafeTime`; `undefined` before the first one. */
  readonly stored: string | undefined
}
