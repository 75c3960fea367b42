import { isProblem, outcomeUnknown } from '../errors.ts'
import { type Archive, type ArchiveOptions, downloadArchive } from './archive.ts'
import { download, type Download, type DownloadOptions } from './download.ts'
import type { components, operations } from '../generated/api.ts'
import { type FilePage, findFile, getFile, repositoryPath, type StoredFile } from './get-file.ts'
import { conditionHeaders, encodeFilePath, type Http } from '../http/http.ts'
import { createListing, type Listing, type ListingOptions } from '../http/listing.ts'
import type { Content, StreamContent } from './source.ts'
import { upload, type UploadedFile, type UploadOptions } from './upload.ts'

export interface FileListingOptions extends ListingOptions {
  /** Lists only names that begin with this. */
  readonly prefix?: string | undefined
  /** Lists only names that contain this, in any case. */
  readonly contains?: string | undefined
  /** Lists only files that this device of the caller has stored. */
  readonly deviceId?: string | undefined
  /**
   * One character. The pages have the names that contain it after the prefix rolled up as `prefixes`, each once and up
   * to and including the character; other names are listed. Only with an order by name.
   */
  readonly delimiter?: string | undefined
  /** With `delimiter`: the pages have `folders`, with what is below each of `prefixes` as far as that is fast. */
  readonly folderTotals?: boolean | undefined
  /** The default is `name`, bytewise. A leading `-` sorts in descending order. */
  readonly order?: NonNullable<NonNullable<operations['listFiles']['parameters']['query']>['order']>
  /** Lists the files of another user that the caller may download. */
  readonly userId?: string | undefined
}

export interface ChangeOptions {
  /** The change succeeds only if the file has this `etag`; `*`: if there is a file. */
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** One change of a batch, in the form of the API. */
export type BatchOperation = components['schemas']['Batch']['operations'][number]

type Results = components['schemas']['BatchResult']

/** What each operation has done, in their order, and the capacity after all of them, which needs `read`. */
export type BatchResult = Omit<Results, 'results'> & {
  readonly results: readonly (Omit<Results['results'][number], 'file'> & {
    readonly file: StoredFile | null
  })[]
}

/** What `update` can change. `rename` changes the name. */
export type FileUpdate = Pick<
  components['schemas']['Change'],
  'visibility' | 'keep' | 'expires_at' | 'media_type' | 'metadata'
>

/**
 * The files of the caller. Of a file that the token may not read, changes return `name` and `user_id` alone. All methods reject with a
 * `CloudRepositoryError`, or with the reason of `signal`.
 */
export interface Files {
  /**
   * Stores content under a name, in place of a file that has it. The file appears only when all of it has arrived. A
   * lost response is told from a refusal: if the service stored the content, the upload succeeds, also with a condition.
   */
  upload(
    name: string,
    content: Exclude<Content, StreamContent>,
    options?: UploadOptions,
  ): Promise<UploadedFile>
  upload(
    name: string,
    content: Content,
    options?: UploadOptions & { readonly digest?: string | undefined },
  ): Promise<UploadedFile>
  /** Downloads a file of the caller, or of the user `userId`. */
  download(
    name: string,
    options?: DownloadOptions & { readonly userId?: string | undefined },
  ): Promise<Download>
  /**
   * Downloads all files, or those of a prefix or of names, as a ZIP archive, in the versions that are current now. With a
   * prefix, entry names are relative to the folder that contains it.
   * Rejects with `not_found` if a name has no file, and with `archive_too_large` for more than 10,000 files.
   */
  archive(options?: ArchiveOptions): Promise<Archive>
  /** The first page has the `changes_cursor` for `changes.follow`. */
  list(options?: FileListingOptions): Listing<StoredFile, FilePage>
  /** Rejects with `not_found` if there is no such file, or the caller may not see it. */
  get(
    name: string,
    options?: { readonly userId?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<StoredFile>
  /**
   * Rejects with `file_exists` if the new name is taken, unless `overwrite` is set. A lost response is
   * resolved if `ifMatch` is an `etag` and the file still has it. Otherwise it can end with `outcome_unknown`.
   */
  rename(
    name: string,
    newName: string,
    options?: ChangeOptions & { readonly overwrite?: boolean | undefined },
  ): Promise<StoredFile>
  /**
   * Changes the visibility, the expiry, whether evictions spare the file, or its media type. `metadata` are merged:
   * `null` removes a member.
   */
  update(name: string, update: FileUpdate, options?: ChangeOptions): Promise<StoredFile>
  /** Deletes a file. The history keeps it for a while. */
  delete(name: string, options?: ChangeOptions): Promise<void>
  /**
   * Does 1 to 1,000 operations in order, and all of them or none. Rejects with the refusal of one operation, whose index
   * is `error.problem.operation`. It is not repeated after a lost response: `connection_lost` leaves open whether it has
   * taken effect.
   */
  batch(
    operations: readonly BatchOperation[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<BatchResult>
}

export function createFiles(http: Http): Files {
  const pathOf = (name: string, userId?: string): string =>
    `${repositoryPath(userId)}/${encodeFilePath(name)}`

  function change(name: string, json: object, options: ChangeOptions) {
    const headers = conditionHeaders(options)
    return { method: 'PATCH', path: pathOf(name), json, headers, signal: options.signal } as const
  }

  return {
    upload: (name, content, options = {}) => upload(http, { name, content, options }),
    download: async (name, options = {}) => download(http, pathOf(name, options.userId), options),
    archive: async (options = {}) => downloadArchive(http, 'users/me/archive', options),
    list(options = {}) {
      const path = repositoryPath(options.userId)
      const query = {
        prefix: options.prefix,
        contains: options.contains,
        device_id: options.deviceId,
        delimiter: options.delimiter,
        folder_totals: options.folderTotals || undefined,
        order: options.order,
      }
      return createListing<FilePage, 'files'>(http, { path, options, query, member: 'files' })
    },
    get: (name, options = {}) => getFile(http, { name, ...options }),
    async rename(name, newName, options = {}) {
      const { overwrite, ifMatch, signal } = options
      const call = change(name, { name: newName, overwrite }, options)
      return http.json<StoredFile>(call, async (error) => {
        if (!isProblem(error, 'not_found')) return undefined
        const file = await findFile(http, { name: newName, signal })
        // A rename keeps the etag.
        if (file !== undefined && file.etag === ifMatch) return file
        throw outcomeUnknown(error)
      })
    },
    update: async (name, update, options = {}) => http.json(change(name, update, options)),
    delete: async (name, options = {}) => {
      const headers = conditionHeaders(options)
      return http.remove({ path: pathOf(name), headers, signal: options.signal })
    },
    batch: async (operations, { signal } = {}) =>
      http.json({
        method: 'POST',
        path: 'users/me/batch',
        json: { operations },
        signal,
      }),
  }
}
