import type {
  Capacity,
  Link,
  Session,
  StoredFile,
  UnfinishedUpload,
} from '../../packages/js/src/client.ts'

export type { AccessToken, Capacity, PastVersion } from '../../packages/js/src/client.ts'

/** A device of an account, and what it stores. */
export type DeviceUse = Capacity['devices'][number]

export type LinkEntry = Link
/** The token of the session. */
export type OwnToken = Session
export type UploadEntry = UnfinishedUpload

export type Visibility = StoredFile['visibility']

export const VISIBILITIES: readonly Visibility[] = ['private', 'users', 'public']

export type Order = 'name' | '-name' | 'updated_at' | '-updated_at' | 'size' | '-size'

/** A file. Entries that a change has made lack some members. */
export type FileEntry = Pick<
  StoredFile,
  'name' | 'user_id' | 'size' | 'etag' | 'visibility' | 'created_at' | 'updated_at'
> &
  Partial<Pick<StoredFile, 'device_id' | 'expires_at' | 'keep' | 'media_type'>>

/** Figures that the response to an upload contains too. */
export interface Figures {
  readonly capacity: number
  readonly used: number
  readonly reserved: number
  readonly available: number
}

export type TokenScope = NonNullable<OwnToken['scope']>
export type TokenAction = TokenScope['actions'][number]

export type LinkKind = LinkEntry['kind']
