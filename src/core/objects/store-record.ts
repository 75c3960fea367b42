export interface RecordedStore {
  readonly identity: string
  /** Whether an object store was found with this identity. Until then, no start is refused. */
  readonly isConfirmed: boolean
}

/** PORT: the identity of the object store that the database knows, in one row. Rejects as the ledger does. */
export interface StoreRecord {
  /** `undefined` if the database knows no object store yet. */
  read(): Promise<RecordedStore | undefined>

  /** Records the identity, unconfirmed, if there is none. Resolves to the one that is recorded then. */
  propose(identity: string): Promise<string>

  /**
   * Records that the store has the identity, unless another one is confirmed. Resolves to the one that is confirmed
   * then.
   */
  confirm(identity: string): Promise<string>

  /** Records the identity as confirmed, in place of any other. */
  replace(identity: string): Promise<void>
}
