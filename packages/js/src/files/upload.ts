import { type Http, segment } from '../http/http.ts'
import { chunksOf, type Content, digestOf, isStream, openSource } from './source.ts'
import {
  putWhole,
  RESUMABLE_BYTES,
  type Upload,
  type UploadedFile,
  type UploadOptions,
} from './upload-request.ts'

/** Sends content in one request, or as a resumable upload, whose code is loaded when it is first needed. */
export async function upload(
  http: Http,
  {
    name,
    content,
    options: given,
  }: { readonly name: string; readonly content: Content; readonly options: UploadOptions },
): Promise<UploadedFile> {
  // Refuses what is no name before it reads anything.
  segment(name)
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
