import { download, type Download, type DownloadOptions } from './files/download.ts'
import { isProblem, outcomeUnknown } from './errors.ts'
import type { components } from './generated/api.ts'
import { findFile } from './files/get-file.ts'
import { type Conditions, conditionHeaders, type Http, segment } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'
import type { UploadedFile } from './files/upload.ts'

export type PastVersion = components['schemas']['PastVersion']
export type HistoryPage = components['schemas']['HistoryPage']

export interface HistoryListingOptions extends ListingOptions {
  /** Lists the versions of one name. */
  readonly name?: string | undefined
  /** Lists the versions of names that begin with this; ignored with `name`. */
  readonly prefix?: string | undefined
}

export interface RestoreOptions extends Conditions {
  /** The name of the restored file. The default is the one that it had. */
  readonly name?: string | undefined
  /** Whether to replace a file that has the name. Otherwise the restore rejects with `file_exists`. */
  readonly overwrite?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** What was replaced and deleted. All methods reject with a `CloudRepositoryError`, or with the reason of `signal`. */
export interface History {
  /** The newest end first. */
  list(options?: HistoryListingOptions): Listing<PastVersion, HistoryPage>
  download(version: string, options?: DownloadOptions): Promise<Download>
  /** Makes the version the current file. Rejects with `version_gone` or `not_found` if it cannot be restored any more. */
  restore(version: string, options?: RestoreOptions): Promise<UploadedFile>
  /** Deletes one version for good. */
  purge(version: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Deletes all versions for good. */
  purgeAll(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

const PATH = 'users/me/history'

export function createHistory(http: Http): History {
  const pathOf = (version: string): string => `${PATH}/${segment(version)}`
  return {
    list(options = {}) {
      const { name, prefix } = options
      const listed = { path: PATH, options, query: { name, prefix }, member: 'versions' } as const
      return createListing<HistoryPage, 'versions'>(http, listed)
    },
    download: async (version, options = {}) => download(http, pathOf(version), options),
    async restore(version, options = {}) {
      const { name, overwrite, signal } = options
      const json = { name, overwrite }
      const headers = conditionHeaders(options)
      const path = `${pathOf(version)}/restore`
      const call = { method: 'POST', path, json, headers, signal } as const
      return http.json<UploadedFile>(call, async (error) => {
        if (!isProblem(error, 'not_found', 'precondition_failed')) return undefined
        const file = name === undefined ? undefined : await findFile(http, { name, signal })
        if (file?.version === version) return file
        throw outcomeUnknown(error)
      })
    },
    purge: async (version, { signal } = {}) => http.remove({ path: pathOf(version), signal }),
    purgeAll: async ({ signal } = {}) => http.remove({ path: PATH, signal }),
  }
}
