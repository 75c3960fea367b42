import { type Changes, createChanges } from './changes.ts'
import { createFiles, type Files } from './files/files.ts'
import type { components } from './generated/api.ts'
import { createHistory, type History } from './history.ts'
import { createHttp, type ServiceAddress, type Token } from './http/http.ts'
import { createLinks, type Links } from './links.ts'
import { createTokens, type Tokens } from './tokens.ts'
import { createUploads, type Uploads } from './uploads.ts'

export {
  type ClientErrorCode,
  CloudRepositoryError,
  type ErrorCode,
  isProblem,
  type ProblemOf,
  type ServiceErrorCode,
} from './errors.ts'
export type { Change, Changes, FollowOptions } from './changes.ts'
export type { Archive, ArchiveOptions } from './files/archive.ts'
export type { Download, DownloadOptions } from './files/download.ts'
export type {
  BatchOperation,
  BatchResult,
  ChangeOptions,
  FileListingOptions,
  Files,
  FileUpdate,
} from './files/files.ts'
export type { FilePage, StoredFile } from './files/get-file.ts'
export type {
  History,
  HistoryListingOptions,
  HistoryPage,
  PastVersion,
  RestoreOptions,
} from './history.ts'
export type { Conditions, ServiceAddress, Token } from './http/http.ts'
export type { CreatedLink, Link, LinkChanges, LinkPage, Links, LinkTerms } from './links.ts'
export type { Listing, ListingOptions } from './http/listing.ts'
export type { RetryPolicy } from './http/retry.ts'
export type { Content, PathContent, StreamContent } from './files/source.ts'
export type {
  AccessToken,
  AccessTokenPage,
  AccessTokenTerms,
  IssuedAccessToken,
  Tokens,
} from './tokens.ts'
export type { UploadedFile, UploadOptions } from './files/upload.ts'
export type { UnfinishedUpload, UploadPage, Uploads } from './uploads.ts'

/**
 * The address of the service, and who calls: an access token, or the cookies of the browser. With neither, only public
 * files can be read.
 */
export type ClientOptions = ServiceAddress &
  (
    | {
        /** Sent in the header `Authorization`. A function is called before each request. */
        readonly token?: Token | undefined
        readonly cookies?: never
      }
    | {
        /** The browser sends the cookie that signs the user in (docs/cors.md, for a service of another origin). */
        readonly cookies: true
        readonly token?: never
      }
  )

export type Capacity = components['schemas']['Capacity']
/** An access token: its user, its scope (`null` permits everything), and when it expires. */
export type Session = components['schemas']['OwnToken']

/** The repository of one user. It keeps no state and no connection, and need not be closed. */
export interface Client {
  readonly files: Files
  readonly uploads: Uploads
  readonly history: History
  readonly changes: Changes
  readonly links: Links
  readonly tokens: Tokens
  /** A consistent snapshot of what the user stores and may store, in bytes. */
  capacity(options?: { readonly signal?: AbortSignal | undefined }): Promise<Capacity>
  /** Who is signed in, and what the access token permits. */
  session(options?: { readonly signal?: AbortSignal | undefined }): Promise<Session>
}

/** Throws a `CloudRepositoryError` with the code `invalid_url`. */
export function createClient(options: ClientOptions): Client {
  const http = createHttp(options)
  return {
    files: createFiles(http),
    uploads: createUploads(http),
    history: createHistory(http),
    changes: createChanges(http),
    links: createLinks(http),
    tokens: createTokens(http, 'users/me/access-tokens'),
    capacity: ({ signal } = {}) => http.json({ path: 'users/me/capacity', signal }),
    session: ({ signal } = {}) => http.json({ path: 'session', signal }),
  }
}
