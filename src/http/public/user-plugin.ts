import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import type { Feed } from '../../core/changes/feed.ts'
import type { Archives } from '../../core/files/archive.ts'
import type { Repository } from '../../core/repository.ts'
import type { History } from '../../core/history/history.ts'
import type { Links } from '../../core/links/links.ts'
import type { DownloadRedirect } from '../../core/objects/download-urls.ts'
import type { Readiness } from '../../core/readiness.ts'
import type { ResumableUploads } from '../../core/resumable/resumable-uploads.ts'
import type { Downloads } from '../download/downloads.ts'
import type { FastifyPluginAsyncTypebox } from '../openapi/type.ts'
import type { ServiceAddress } from '../server/service-address.ts'
import type { ReadInTurn } from './listing-turns.ts'
import type { LoopShares } from './loop-shares.ts'

/** Routes of users, and what they are given. */
export type UserPlugin = FastifyPluginAsyncTypebox<UserRoutesOptions>

export interface UserRoutesOptions {
  readonly useCases: PublicUseCases
  readonly limits: Limits
  readonly downloads: Downloads
  readonly redirect: DownloadRedirect | undefined
  readonly address: ServiceAddress
  readonly allowedOrigins: readonly string[]
  readonly shares: LoopShares
  readonly readInTurn: ReadInTurn
}

export interface PublicUseCases {
  readonly repository: Repository
  readonly history: History
  readonly archives: Archives
  readonly uploads: ResumableUploads
  readonly feed: Feed
  readonly accessTokens: AccessTokens
  readonly links: Links
  readonly readiness: Readiness
}

export interface Limits {
  readonly maxFiles: number
  /** In bytes. */
  readonly maxFileSize: number
}
