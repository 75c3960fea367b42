// tus 1.0 (docs/api.md, Resumable uploads) on `fetch`. tus-js-client is not used: alone it is larger than this whole
// client, its state and its retries are its own, and it does not run in service workers. What it would do is here.
import { isProblem } from '../../errors.ts'
import type { Http } from '../../http/http.ts'
import type { Attempts } from '../../http/retry.ts'
import type { Part } from '../parts.ts'
import { digestOf, type Source } from '../source.ts'
import type { Upload, UploadedFile } from '../upload.ts'
import { sendParts } from './send.ts'
import {
  cancelUpload,
  type Creation,
  createUpload,
  endOf,
  findUpload,
  markerOf,
  randomMarker,
  storedFile,
  UPLOADS,
} from './unfinished.ts'

/** Sends content of a known size. Continues an upload of an earlier process if the content has a key. */
export async function uploadResumably(
  http: Http,
  one: Upload,
  source: Source,
): Promise<UploadedFile> {
  const { resumeKey = source.fingerprint, uploadId, signal } = one.options
  const length = source.size
  const isKept = resumeKey !== undefined || uploadId !== undefined
  const marker = resumeKey === undefined ? randomMarker() : markerOf(one, { resumeKey, length })
  const first: Part = { source, isLast: true }
  const { modified } = source
  const transfer = { http, one, length, modified, marker, first, next: async () => first }
  const attempts = http.attempts(signal)
  for (let isNew = !isKept || uploadId === null; ;) {
    const previous = isNew ? undefined : (uploadId ?? (await findUpload(transfer)))
    // Proves that the bytes of the earlier process are those of this content, unless the caller knows.
    const isFound = previous !== undefined && previous !== uploadId
    const digest = isFound ? (one.digest ?? (await digestOf(source, signal))) : undefined
    try {
      const file = await run({ ...transfer, previous, digest, isKept }, attempts)
      // Another process, or the question for the offset, may have stored it without the digest of this one.
      if (digest === undefined || file.sha256 === digest) return file
    } catch (error) {
      if (previous === undefined || !isProblem(error, 'digest_mismatch'))
        await restart(attempts, error)
    }
    isNew = true
  }
}

/** Sends a stream, of which one part at a time is in memory. */
export async function uploadParts(
  http: Http,
  one: Upload,
  { first, next }: { readonly first: Part; readonly next: () => Promise<Part> },
): Promise<UploadedFile> {
  const length = first.isLast ? first.source.size : undefined
  const creation = { http, one, length, marker: randomMarker() }
  const none = { previous: undefined, digest: undefined, isKept: false }
  return run({ ...creation, first, next, ...none }, http.attempts(one.options.signal))
}

interface Run extends Creation {
  readonly first: Part
  readonly next: () => Promise<Part>
  /** The upload of an earlier process. */
  readonly previous: string | undefined
  readonly digest: string | undefined
  /** Whether a later upload can continue this one if it fails. */
  readonly isKept: boolean
}

async function run(transfer: Run, attempts: Attempts): Promise<UploadedFile> {
  const { http, one, length, first, next, previous, digest, isKept } = transfer
  let id = previous
  try {
    const created = (id ??= await createUpload(transfer, attempts))
    one.options.onUploadId?.(created)
    const sending = {
      http,
      path: `${UPLOADS}/${created}`,
      hasBegun: previous !== undefined,
      first,
      next,
      defersLength: length === undefined,
      digest,
      whyGone: () => endOf(transfer, created),
      options: one.options,
    }
    await sendParts(sending, attempts)
    return await storedFile(transfer, created)
  } catch (error) {
    // Nothing can continue it.
    if (!isKept || isProblem(error, 'precondition_failed')) await cancelUpload(transfer, id)
    throw error
  }
}

/** Returns if the upload can begin anew: it has expired, or the service has lost its bytes. */
async function restart(attempts: Attempts, error: unknown): Promise<void> {
  const { outcome = 'expired' } = isProblem(error, 'upload_gone') ? error.problem : {}
  const isLost = outcome === 'expired' || outcome === 'lost'
  if (!isLost || !isProblem(error, 'not_found', 'upload_gone')) throw error
  await attempts.waitAfter(error, () => true)
}
