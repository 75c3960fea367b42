import type { components } from './generated/api.ts'
import type { StoredFile } from './files/get-file.ts'
import { type Http, segment } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'

export type UnfinishedUpload = Omit<components['schemas']['Upload'], 'file'> & {
  /** With a token that may not read the file, only `name` and `user_id` are sure to be there. */
  readonly file: StoredFile | null
}
export type UploadPage = Omit<components['schemas']['UploadPage'], 'uploads'> & {
  readonly uploads: readonly UnfinishedUpload[]
}

/** Unfinished resumable uploads. Methods reject with a `CloudRepositoryError`, or with the reason of `signal`. */
export interface Uploads {
  /** The oldest first. */
  list(options?: ListingOptions): Listing<UnfinishedUpload, UploadPage>
  /** One upload. If it has been finished since, `file` is what it stored, unless that is replaced or deleted. */
  get(
    uploadId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<UnfinishedUpload>
  /** Ends an upload and releases its space. Rejects with `upload_gone` or `not_found` if it has ended. */
  cancel(uploadId: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
}

const PATH = 'users/me/uploads'

export function createUploads(http: Http): Uploads {
  const pathOf = (uploadId: string): string => `${PATH}/${segment(uploadId)}`
  return {
    list: (options = {}) =>
      createListing<UploadPage, 'uploads'>(http, { path: PATH, options, member: 'uploads' }),
    get: async (uploadId, { signal } = {}) => http.json({ path: pathOf(uploadId), signal }),
    cancel: async (uploadId, { signal } = {}) =>
      http.remove({ path: pathOf(uploadId), headers: { 'tus-resumable': '1.0.0' }, signal }),
  }
}
