import type { FileName } from '../files/file-name.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

interface Named {
  readonly userId: UserId
  readonly name: FileName
  readonly version: Version
  readonly key: ObjectKey
}

/** A file or past version, by the copy of a database. */
export interface NamedContent extends Named {
  readonly size: number
  readonly sha256: string
  /** 1 for a past version, else 0. */
  readonly isPast: 0 | 1
}

/** A resumable upload that was unfinished when the database was copied. */
export interface UnfinishedContent extends Named {
  /** Bytes that are durable and recorded. */
  readonly size: number
  /** What the object store keeps about it. */
  readonly storeState: string
}
