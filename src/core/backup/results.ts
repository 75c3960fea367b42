/** What a call has copied so far. What was there already is not in it. */
export interface CopiedContents {
  objects: number
  objectBytes: number
}

export interface RemovedCopies {
  /** Complete copies that the folder has now. */
  readonly copies: number
  readonly removedCopies: number
  readonly removedObjects: number
}

export interface BackupResult extends CopiedContents, RemovedCopies {
  /** The name of the new copy: the time of its database. */
  readonly copy: string
  readonly files: number
  readonly versions: number
  /** Of the files and past versions. */
  readonly bytes: number
}

export interface CheckedBackup {
  /** Complete copies, of which all were checked. */
  copies: number
  objects: number
  objectBytes: number
}

export interface RestoredBackup {
  /** The name of the copy. */
  readonly copy: string
  /** Its path. */
  readonly database: string
  readonly files: number
  readonly versions: number
  /** Of the files and past versions. */
  readonly bytes: number
  /** Uploads that were finished after the database was copied, and are forgotten. */
  readonly released: number
}
