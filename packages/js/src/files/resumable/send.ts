import {
  CloudRepositoryError,
  connectionLost,
  isProblem,
  unexpectedResponse,
} from '../../errors.ts'
import type { Reply } from '../../http/answer.ts'
import type { Http } from '../../http/http.ts'
import type { Attempts } from '../../http/retry.ts'
import { formatReprDigest } from '../../sha256.ts'
import type { Part } from '../parts.ts'
import type { UploadOptions } from '../upload.ts'
import { TUS } from './unfinished.ts'

/** The parts of a content, and the upload that they belong to. */
export interface Sending {
  readonly http: Http
  /** The upload, which exists. */
  readonly path: string
  /** Whether it may have bytes already. */
  readonly hasBegun: boolean
  readonly first: Part
  readonly next: () => Promise<Part>
  /** Sent with the last part, if the creation did not tell the length. */
  readonly defersLength: boolean
  /** SHA-256 that is sent with each append, if the creation did not have it. */
  readonly digest: string | undefined
  /** Resolves to the error for an upload that there is no longer. */
  readonly whyGone: (error: unknown) => Promise<unknown>
  readonly options: Pick<UploadOptions, 'signal' | 'onProgress'>
}

/** The bytes that the service has, and whether it has stored the file. */
interface Progress {
  readonly offset: number
  readonly isStored: boolean
}

/** Sends the parts that the service does not have yet, and resolves when it has stored the file. */
export async function sendParts(sending: Sending, attempts: Attempts): Promise<void> {
  const { http, path, next, digest, whyGone } = sending
  const { signal, onProgress } = sending.options
  let part = sending.first
  /** Where the part begins in the file. */
  let base = 0

  function report(sent: number): void {
    const total = part.isLast ? base + part.source.size : undefined
    onProgress?.({ sent, total })
  }

  /** Sends the part from there, or nothing of it, if `until` is there too. */
  async function append(from: number, until = base + part.source.size): Promise<Progress> {
    if (from < base) throw lostPart(from, base)
    const { source, isLast } = part
    const end = base + source.size
    const onSent = (sent: number): void => report(from + sent)
    const headers = {
      ...TUS,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(from),
      'upload-length': sending.defersLength && isLast ? String(end) : undefined,
      'repr-digest': digest === undefined ? undefined : formatReprDigest(digest),
    }
    const content = { source, start: from - base, end: until - base, onSent }
    const reply = await http.ask({ method: 'PATCH', path, headers, content, signal })
    const offset = offsetOf(reply)
    if (offset === from && from < until) throw connectionLost(new Error('No byte was recorded.'))
    return { offset, isStored: isLast && offset === end }
  }

  /** Stops the append that was cut off, if it still runs. */
  async function askOffset(): Promise<Progress> {
    let isRefused = false
    for (;;) {
      try {
        // The file could not be stored. An append without content tries again, and gets the reason.
        if (isRefused) return await append(base + part.source.size)
        const reply = await http.ask({ method: 'HEAD', path, headers: TUS, signal })
        const offset = offsetOf(reply)
        return { offset, isStored: reply.headers.get('upload-length') === String(offset) }
      } catch (error) {
        const { status = 0 } = isProblem(error) ? error : {}
        if (status === 404 || status === 410) throw await whyGone(error)
        if (!isRefused && (status === 403 || status === 412)) isRefused = true
        else await attempts.waitAfter(error, isBusy)
      }
    }
  }

  let now = sending.hasBegun ? await askOffset() : { offset: 0, isStored: false }
  report(now.offset)
  let isStuck = false
  for (;;) {
    while (!now.isStored && (part.isLast || now.offset < base + part.source.size)) {
      const { offset } = now
      try {
        // The response to a refused append can be lost while its content is being sent. Without content, it arrives.
        now = await append(offset, isStuck ? offset : undefined)
        isStuck = false
      } catch (error) {
        await attempts.waitAfter(error, isBusy).catch(async (final: unknown) => {
          throw isProblem(final, 'not_found', 'upload_gone') ? await whyGone(final) : final
        })
        now = await askOffset()
        isStuck = now.offset === offset
      }
      report(now.offset)
      if (now.offset > offset) attempts.reset()
    }
    if (now.isStored) return
    base += part.source.size
    part = await next()
  }
}

function offsetOf({ status, headers }: Reply): number {
  const offset = headers.get('upload-offset')
  if (offset === null) throw unexpectedResponse(status, { missing: 'Upload-Offset' })
  return Number(offset)
}

/** The service has lost bytes that it had acknowledged, and a stream cannot be read again. */
function lostPart(offset: number, base: number): CloudRepositoryError {
  const detail = 'The upload continues before the part of the stream that is in memory.'
  return new CloudRepositoryError({
    code: 'offset_mismatch',
    detail,
    offset,
    provided_offset: base,
  })
}

function isBusy({ status }: CloudRepositoryError): boolean {
  return status === 409 || status === 423
}
