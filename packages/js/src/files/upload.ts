import { isProblem } from '../errors.ts'
import { findFile, type StoredFile } from './get-file.ts'
import { type Conditions, conditionHeaders, encodeFilePath, type Http } from '../http/http.ts'
import { formatReprDigest } from '../sha256.ts'
import { chunksOf, type Content, digestOf, isStream, openSource, type Source } from './source.ts'
import type { components } from '../generated/api.ts'

type Uploaded = components['schemas']['UploadedFile'] & object

/**
 * The stored file. An upload in one request also tells what it replaced and evicted, and the capacity after it; a
 * resumable one does not. With a token that may not read the file, only `name` and `user_id` are sure to be there.
 */
export type UploadedFile = StoredFile & Partial<Pick<Uploaded, 'replaced' | 'capacity' | 'evicted'>>

export interface UploadOptions extends Conditions {
  /**
   * Called while the content is sent. `total` is `undefined` for a stream whose end is not known yet. If a request is
   * repeated, `sent` goes back. A runtime that does not tell the progress calls it at the end only.
   */
  readonly onProgress?: (progress: {
    readonly sent: number
    readonly total: number | undefined
  }) => void
  /** Aborts the upload. See `resume` for what becomes of a resumable one. */
  readonly signal?: AbortSignal | undefined
  /**
   * Whether the upload continues after a lost connection instead of beginning anew: `auto`, the default, if the content
   * has more than 8 MiB.
   *
   * If such an upload fails or is aborted, and the content is a `File` or a path, or there is a `resumeKey`, the service
   * keeps it for the operator's `UPLOAD_LIFETIME` (24 hours by default), with its space reserved. A later upload of the
   * same name and content continues it, from another process too; `uploads.cancel` ends it. Any other upload that fails
   * is cancelled.
   *
   * A stream is read in parts of 8 MiB, which are kept in memory until they have arrived. With `false`, it is sent in
   * one request, which is not repeated, and which browsers send only over HTTP/2.
   */
  readonly resume?: 'auto' | boolean | undefined
  /**
   * Names the content for a later upload that is to continue this one, for example with its path and modification time.
   * A `File` and a path have such a key already.
   */
  readonly resumeKey?: string | undefined
  /**
   * Continues this upload of `uploads.list` instead of looking for one. The caller knows that its content and its terms
   * are the same: only with a `digest` does the service refuse a mixture. `null` begins anew. With either, a resumable
   * upload that fails is kept.
   */
  readonly uploadId?: string | null | undefined
  /** Called with the id of a resumable upload as soon as it is known, for `uploads.cancel`. */
  readonly onUploadId?: (uploadId: string) => void
  /**
   * SHA-256 of the content in lower-case hexadecimal: the service refuses other content with `digest_mismatch`. `true`
   * computes it first, which reads the content twice, and is not possible with a stream.
   */
  readonly digest?: string | true | undefined
  /** The file expires so many seconds after it is stored. */
  readonly expiresIn?: number | undefined
  /** If the file does not fit, the oldest files whose names begin with this prefix make room for it. May be empty. */
  readonly evict?: string | undefined
  /** The media type of the file. The default is that of a `Blob` or `File`, else `application/octet-stream`. */
  readonly mediaType?: string | undefined
  /**
   * What the service keeps with the file, at most 2 KiB as JSON. The default is the metadata of the file that it
   * replaces.
   */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Who may download the file. The default is `private`, or that of the file that it replaces. */
  readonly visibility?: StoredFile['visibility'] | undefined
}

/** Content up to this size is sent in one request. */
export const RESUMABLE_BYTES = 8 * 1024 * 1024

export interface Upload {
  readonly name: string
  readonly options: UploadOptions
  /** SHA-256 of the content, if the caller wants it to be checked. */
  readonly digest: string | undefined
}

export async function upload(
  http: Http,
  {
    name,
    content,
    options: given,
  }: { readonly name: string; readonly content: Content; readonly options: UploadOptions },
): Promise<UploadedFile> {
  // Refuses what is no name before it reads anything.
  encodeFilePath(name)
  const { mediaType = content instanceof Blob ? content.type : undefined } = given
  const options = { ...given, mediaType }
  if (isStream(content)) {
    const chunks = chunksOf(content)
    try {
      const { uploadStream } = await import('./upload-stream.ts')
      return await uploadStream(http, { name, chunks, options })
    } finally {
      // Cancels a stream that was not read to its end. Not awaited, because it may never end.
      chunks.return?.().catch(() => undefined)
    }
  }
  const source = await openSource(content)
  const { digest, signal, resume = 'auto' } = options
  const known = digest === true ? await digestOf(source, signal) : digest
  const one: Upload = { name, options, digest: known }
  const isLarge = resume === 'auto' ? source.size > RESUMABLE_BYTES : resume
  if (!isLarge || source.size === 0) return putWhole(http, one, source)
  const { uploadResumably } = await import('./resumable/resumable.ts')
  return uploadResumably(http, one, source)
}

/** Sends the content in one request, and again after a temporary failure. */
export async function putWhole(http: Http, one: Upload, source: Source): Promise<UploadedFile> {
  const { name, options } = one
  const { signal, onProgress } = options
  const total = source.size
  const onSent = (sent: number): void => onProgress?.({ sent, total })
  const call = { ...putOf(one), content: { source, start: 0, end: total, onSent } }
  const file = await http.json<UploadedFile>(call, async (error) => {
    // The attempt may have stored the file, which then no longer meets the condition.
    if (!isProblem(error, 'precondition_failed')) return undefined
    const digest = one.digest ?? (await digestOf(source, signal))
    try {
      const found = await findFile(http, { name, signal })
      return found?.sha256 === digest ? found : undefined
    } catch (cause) {
      // Only a token that may not read the file leaves the refusal as the best answer.
      if (isProblem(cause, 'scope_insufficient')) return undefined
      throw cause
    }
  })
  onProgress?.({ sent: total, total })
  return file
}

/** The request that stores content. */
export function putOf({ name, options, digest }: Upload) {
  return {
    method: 'PUT',
    path: `users/me/repo/${encodeFilePath(name)}`,
    query: queryOf(options),
    headers: {
      ...conditionHeaders(options),
      'content-type': options.mediaType || 'application/octet-stream',
      'file-metadata': options.metadata && asciiJson(options.metadata),
      'repr-digest': digest === undefined ? undefined : formatReprDigest(digest),
    },
    signal: options.signal,
  } as const
}

/** Headers carry nothing else safely. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The parameters that an upload has in one request and in the creation of a resumable upload. */
export function queryOf({ visibility, evict, expiresIn }: UploadOptions) {
  return { visibility, evict, expires_in: expiresIn }
}
