export type Visibility = 'private' | 'users' | 'public'

export const VISIBILITIES: readonly Visibility[] = ['private', 'users', 'public']

export type Order = 'name' | '-name' | 'updated_at' | '-updated_at' | 'size' | '-size'

/** A file as the API describes it. */
export interface FileEntry {
  readonly name: string
  readonly user_id: string
  readonly size: number
  readonly etag: string
  readonly visibility: Visibility
  readonly created_at: string
  readonly updated_at: string
  /** Missing in entries that a change has made. */
  readonly expires_at?: string | null
  readonly keep?: boolean
}

export interface FilePage {
  readonly files: readonly FileEntry[]
  /** On the first page of the user's own files. */
  readonly changes_cursor?: string
  readonly next_cursor: string | null
}

/** A change as the API describes it. Those of the capacity have no file. */
export interface ChangeEntry extends Pick<FileEntry, 'name' | 'size' | 'visibility'> {
  readonly type: string
  readonly at: string
  readonly version: string
  /** Of a renamed file. */
  readonly previous_name?: string
}

/** A resumable upload as the API describes it. */
export interface UploadEntry {
  readonly upload_id: string
  readonly name: string
  /** `complete`: all bytes have arrived, but the file is not stored. */
  readonly state: 'open' | 'receiving' | 'complete' | 'finished'
  readonly offset: number
  /** `null` while it is deferred. */
  readonly length: number | null
  readonly metadata: Readonly<Record<string, string>>
  /** The code of the last refusal to store the file. */
  readonly refusal: string | null
  readonly expires_at: string
  /** The file of a finished upload, while it is the current version. */
  readonly file: FileEntry | null
}

export interface UploadPage {
  readonly uploads: readonly UploadEntry[]
  readonly next_cursor: string | null
}

/** A replaced or deleted file as the API describes it. */
export interface PastVersion extends Pick<FileEntry, 'name' | 'size'> {
  readonly version: string
  readonly ended_at: string
  readonly ended_as: 'replaced' | 'deleted'
  readonly expires_at: string
}

export interface PastVersionPage {
  readonly versions: readonly PastVersion[]
  readonly next_cursor: string | null
}

export interface Grant {
  readonly source: string
  readonly reference: string
  readonly bytes: number
  readonly model?: string
  readonly starts_at: string | null
  readonly ends_at: string | null
}

/** Figures that the response to an upload contains too. */
export interface Figures {
  readonly capacity: number
  readonly used: number
  readonly reserved: number
  readonly available: number
}

export interface Capacity extends Figures {
  readonly user_id: string
  readonly file_count: number
  readonly max_files: number
  /** Resumable uploads, running or interrupted. */
  readonly unfinished_uploads: { readonly count: number; readonly bytes: number }
  /** Replaced and deleted files, which do not count as used. */
  readonly history: { readonly count: number; readonly used: number; readonly allowance: number }
  readonly state: 'normal' | 'nearing' | 'critical' | 'exceeded'
  readonly grants: readonly Grant[]
}

export type TokenAction = 'read' | 'create' | 'replace' | 'delete' | 'history' | 'share'

export interface TokenScope {
  readonly actions: readonly TokenAction[]
  readonly prefix: string
  readonly device_id: string | null
  readonly when_full: 'refuse' | 'evict_oldest'
}

/** The token of the session as the API describes it. */
export interface OwnToken {
  readonly user_id: string
  /** `null` permits everything. */
  readonly scope: TokenScope | null
  readonly expires_at: string | null
}

export interface AccessToken {
  readonly token_id: string
  readonly label: string
  /** `null` permits everything. */
  readonly scope: TokenScope | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

export type LinkKind = 'download' | 'drop'

/** A link for people without an account. */
export interface LinkEntry {
  readonly link_id: string
  readonly kind: LinkKind
  readonly name: string | null
  readonly prefix: string | null
  readonly label: string
  readonly has_password: boolean
  readonly uses_left: number | null
  readonly created_at: string
  readonly expires_at: string | null
}
