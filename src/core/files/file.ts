import { AppError, invalidParameter } from '../errors.ts'
import type { FileName } from './file-name.ts'
import type { MediaType } from './media-type.ts'
import type { Metadata } from './metadata.ts'
import type { ContentDigest } from '../objects/content-digest.ts'
import type { ObjectKey, Version } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'

/** Who may read a file: its owner, any user with a valid access token, anyone. */
export const VISIBILITIES = ['private', 'users', 'public'] as const

export type Visibility = (typeof VISIBILITIES)[number]

/** Passes `undefined` through; throws `invalid_parameter` for an unknown visibility. */
export function parseVisibility(value: unknown): Visibility | undefined {
  if (value === undefined) return undefined
  const visibility = VISIBILITIES.find((known) => known === value)
  if (visibility !== undefined) return visibility
  throw invalidParameter('visibility', `visibility must be one of ${VISIBILITIES.join(', ')}.`)
}

/** Content under a name, of a file or a past version. */
export interface FiledObject extends ContentDigest {
  readonly userId: UserId
  readonly name: FileName
  readonly version: Version
  readonly objectKey: ObjectKey
  readonly size: number
}

/** What clients say of a content. */
export interface ContentDescription {
  /**
   * `null`: none was stated, so responses have that of the extension of the name (`served-media-type.ts`).
   */
  readonly mediaType: MediaType | null
  /** `null` if there is none. */
  readonly metadata: Metadata | null
}

/** What an upload says of its content. */
export interface SentDescription {
  /** Without one, the file has none, also if it replaces another one. */
  readonly mediaType?: MediaType | null | undefined
  /** `undefined` keeps the metadata of the replaced file; a new file has none. */
  readonly metadata?: Metadata | undefined
}

/** A file or a past version. Times are milliseconds since 1970 by the database's clock. */
export interface FileVersion extends FiledObject, ContentDescription {
  readonly visibility: Visibility
  /** The device whose token stored the content; `null` if it was another one's. */
  readonly deviceId: string | null
  /** An overwrite keeps this time. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A row of `files`. */
export interface File extends FileVersion {
  /** From then on nobody finds the file, and its name is free; `NEVER` if it does not expire. */
  readonly expiresAt: number
  /** 1 if evictions spare the file, else 0. */
  readonly isKept: 0 | 1
  /** See `metadataBytes`. */
  readonly metadataBytes: number
  /** The date of the content for HTTP if that has to be later than `updatedAt`, else 0: see `lastModified`. */
  readonly modifiedAt: number
  /**
   * The narrow credential by which the content was stored, or restored; `null` if the account itself did. An upload of
   * the same content by a narrow credential keeps it, unless that expires earlier and the old content becomes history.
   */
  readonly storedBy: string | null
}

/** What a file counts against the capacity: its content, and what its metadata exceed their allowance by. */
export function countedBytes({
  size,
  metadataBytes,
}: Pick<File, 'size' | 'metadataBytes'>): number {
  return size + metadataBytes
}

export const NEVER = Number.MAX_SAFE_INTEGER

export function fileExists(): AppError {
  return new AppError(
    'file_exists',
    'A file with this name already exists. To replace it, set `overwrite` to true.',
  )
}

/** The same answer for a missing and a hidden file, so that it does not reveal which names exist. */
export function fileNotFound(): AppError {
  return new AppError('not_found', 'The file was not found.')
}
