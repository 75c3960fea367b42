import { actorOf, linkIdOf, type Subject } from '../auth/subject.ts'
import { invalidParameter } from '../errors.ts'
import type { Precondition } from '../files/precondition.ts'
import { createVersion, objectKey } from '../objects/object-key.ts'
import { assertAcceptable } from '../uploads/upload.ts'
import type { AnnouncedUpload, ResumableUpload } from './resumable-ledger.ts'
import type { ResumableOptions } from './resumable-options.ts'

export interface CreateUpload extends AnnouncedUpload {
  readonly subject: Subject
  /** Expected digest of the whole content: 64 lower-case hexadecimal digits. */
  readonly sha256: string | undefined
  /** An append follows, so an empty file is not committed yet. */
  readonly hasContent: boolean
  readonly shutdown: AbortSignal
}

/**
 * See `ResumableLedger.createResumable`. Also rejects as `assertMayHold`, with `invalid_parameter` for a precondition
 * above `MAX_PRECONDITION_BYTES`, and with `file_too_large` and `insufficient_storage`. Sends nothing to the store.
 */
export async function createUpload(
  options: ResumableOptions,
  request: CreateUpload,
): Promise<ResumableUpload> {
  const { ledger, objects } = options
  const { subject, name, length, metadata, visibility, precondition } = request
  const { evict, expiresInMs, sha256: expectedSha256 } = request
  if (precondition !== undefined) assertStorable(precondition)
  await assertAcceptable(options, request, { min: length ?? 0, expectedBytes: length ?? 0 })
  const version = createVersion()
  const key = objectKey(subject.userId, version)
  const linkId = linkIdOf(subject)
  const terms = { name, length, metadata, visibility, precondition, linkId, evict, expiresInMs }
  return await ledger.createResumable({
    ...actorOf(subject),
    ...terms,
    version,
    objectKey: key,
    partSize: objects.partSizeFor(length),
    expectedSha256,
    emptyLifetimeMs: EMPTY_LIFETIME_MS,
    maxLifetimeMs: MAX_LIFETIME_MS,
  })
}

/** An empty upload has nothing to resume, and the response with its URL may have been lost. */
const EMPTY_LIFETIME_MS = 10 * 60_000

const MAX_LIFETIME_MS = 7 * 24 * 60 * 60_000

/** As JSON. The ledger keeps it until the upload ends; the precondition of any other upload is not stored. */
export const MAX_PRECONDITION_BYTES = 1024

function assertStorable(precondition: Precondition): void {
  if (Buffer.byteLength(JSON.stringify(precondition)) <= MAX_PRECONDITION_BYTES) return
  const header = precondition.ifMatch === undefined ? 'If-None-Match' : 'If-Match'
  throw invalidParameter(
    header,
    `A resumable upload can store preconditions of at most ${MAX_PRECONDITION_BYTES} bytes.`,
  )
}
