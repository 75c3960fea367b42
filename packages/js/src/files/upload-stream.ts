import { type Http, parseJson } from '../http/http.ts'
import { createPartReader } from './parts.ts'
import { uploadParts } from './resumable/resumable.ts'
import {
  putOf,
  putWhole,
  RESUMABLE_BYTES,
  type Upload,
  type UploadedFile,
  type UploadOptions,
} from './upload.ts'

export interface StreamUpload {
  readonly name: string
  readonly chunks: AsyncIterator<Uint8Array, unknown>
  readonly options: UploadOptions
}

/** Sends the chunks of a stream, in one request if they are few. */
export async function uploadStream(
  http: Http,
  { name, chunks, options }: StreamUpload,
): Promise<UploadedFile> {
  const { digest, signal, resume = 'auto' } = options
  if (digest === true) throw new TypeError('The digest of a stream has to be known.')
  const one: Upload = { name, options, digest }
  if (resume === false) return putStream(http, one, chunks)
  const parts = createPartReader(chunks, { size: RESUMABLE_BYTES, signal })
  const first = await parts.next()
  if (first.isLast && (resume === 'auto' || first.source.size === 0))
    return putWhole(http, one, first.source)
  return uploadParts(http, one, { first, next: () => parts.next() })
}

async function putStream(
  http: Http,
  one: Upload,
  chunks: AsyncIterator<Uint8Array, unknown>,
): Promise<UploadedFile> {
  const { onProgress } = one.options
  const onSent = (sent: number): void => onProgress?.({ sent, total: undefined })
  const source = { read: () => ({ [Symbol.asyncIterator]: () => chunks }), blob: () => undefined }
  const sent = { source, start: 0, end: undefined, onSent }
  return parseJson(await http.ask({ ...putOf(one), content: sent })) as UploadedFile
}
