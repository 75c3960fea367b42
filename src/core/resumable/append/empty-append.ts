import { Readable } from 'node:stream'
import type { FinishRequest } from '../finish.ts'
import type { AppendToUpload } from './append.ts'
import { lengthExceeded, offsetMismatch, storedNothing } from '../refusals.ts'
import type { ResumableUpload } from '../resumable-ledger.ts'
import type { NamedUpload } from '../named-upload.ts'
import type { IncomingFile } from '../../uploads/store-content.ts'

export interface ResumeUpload extends NamedUpload, FinishRequest {
  /** The request's signal. Ends the wait for a running append. */
  readonly signal: AbortSignal
}

/** Declares a length that is still deferred, and seals an upload that has all its bytes. */
export function emptyAppend(
  { subject, version, signal, shutdown }: ResumeUpload,
  length: number,
): AppendToUpload {
  const empty = { offset: length, length, bodySize: 0, open: emptyBody }
  return { subject, version, ...empty, signal, shutdown }
}

function emptyBody(): IncomingFile & Disposable {
  return {
    content: Readable.from([]),
    size: { min: 0, announced: 0, max: 0 },
    end: async () => undefined,
    [Symbol.dispose]: () => undefined,
  }
}

/**
 * Resolves if the append adds nothing at the end of an upload that has all its bytes, as the last one of
 * tus-java-client does. Rejects otherwise: as `offsetMismatch` at another offset, which is how a client that repeats
 * its last append learns that the file is stored; with `upload_length_exceeded`; and with `unavailable` if the body
 * breaks off before its first byte.
 */
export async function assertAddsNothing(
  request: AppendToUpload,
  upload: ResumableUpload,
): Promise<void> {
  const { offset } = upload
  if (request.offset !== offset) throw offsetMismatch(upload, request.offset)
  if (!(await isEmpty(request))) throw lengthExceeded(offset)
}

/** Reads a body of unknown size as far as its first byte. */
async function isEmpty({ bodySize, open, signal }: AppendToUpload): Promise<boolean> {
  if (bodySize !== undefined) return bodySize === 0
  using body = open(signal)
  for await (const chunk of body.content as AsyncIterable<Buffer>) {
    if (chunk.length > 0) return false
  }
  try {
    await body.end()
  } catch (error) {
    throw storedNothing(error)
  }
  return true
}
