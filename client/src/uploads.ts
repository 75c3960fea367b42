import type { components } from './generated/api.ts'
import { type Http, segment } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'

export type UnfinishedUpload = components['schemas']['Upload']
export type UploadPage = components['schemas']['UploadPage']

/** Unfinished resumable uploads. Methods reject with a `CloudRepositoryError`, or with the reason of `signal`. */
export interface Uploads {
  /** The oldest first. */
  list(options?: ListingOptions): Listing<UnfinishedUpload, UploadPage>
  /** Ends an upload and releases its space. Rejects with `upload_gone` or `not_found` if it has ended. */
  cancel(uploadId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

const PATH = 'users/me/uploads'

export function createUploads(http: Http): Uploads {
  return {
    list: (options = {}) =>
      createListing(http, { path: PATH, options, itemsOf: ({ uploads }: UploadPage) => uploads }),
    async cancel(uploadId, { signal } = {}) {
      const path = `${PATH}/${segment(uploadId)}`
      await http.call({ method: 'DELETE', path, headers: { 'tus-resumable': '1.0.0' }, signal })
    },
  }
}
