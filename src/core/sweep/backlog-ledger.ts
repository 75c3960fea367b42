export interface Backlog {
  /** Items that are due, at most the requested cap. */
  readonly count: number
  /** How long the oldest item has been due; 0 if no item is due. */
  readonly oldestMs: number
}

/** Totals of all users, due or not; each covers at most as many rows as the requested cap. */
export interface JournalFigures {
  /** Uploads with a single request. */
  readonly reservations: number
  readonly reservedBytes: number
  /** Unfinished resumable uploads, and the bytes that they have announced. */
  readonly unfinishedUploads: number
  readonly unfinishedBytes: number
  readonly garbage: number
}

/** PORT: how much the sweep has left to do. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface BacklogLedger {
  /** Work that is due: uploads with an expired lease, aborted uploads and garbage. */
  measureBacklog(cap: number): Promise<{
    readonly expiredUploads: Backlog
    readonly abortedUploads: Backlog
    readonly garbage: Backlog
  }>

  measureJournal(cap: number): Promise<JournalFigures>
}
