import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/errors.ts'
import type { AnnouncedAppend, AppendToUpload } from '../../../core/resumable/append/append.ts'
import type { Appended } from '../../../core/resumable/resumable-uploads.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { bodySize } from '../../headers/content-headers.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { tellToContinue } from '../../server/unread-body.ts'
import { noteOffset } from './upload-path.ts'

/** Reads the body when the append has begun; what has arrived counts even if the rest does not come. */
export function appendOf(
  request: FastifyRequest,
  reply: FastifyReply,
  target: AnnouncedAppend,
): AppendToUpload {
  return {
    ...target,
    bodySize: bodySize(request.headers),
    open: (stop) => {
      const body = openRawBody(request, { signal: stop, keepsReceived: true })
      tellToContinue(request, reply)
      return body
    },
    signal: requestSignal(reply),
    shutdown: request.server.signals.shutdown,
  }
}

/** A refusal because of the offset tells the right one. */
export function tellOffset(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!isAppError(error, 'offset_mismatch')) return
  const offset = Number(error.facts['offset'])
  noteOffset(request, offset)
  void reply.header('upload-offset', offset)
}

/**
 * Notes the end of an append for the log. A client whose append was taken over hears nothing, since it has a newer
 * request, or has gone: `true` if the connection was closed.
 */
export function isLeftUnanswered(reply: FastifyReply, { offset, cut }: Appended): boolean {
  noteOffset(reply.request, offset)
  if (cut === 'shutdown') void reply.header('connection', 'close')
  if (cut !== 'superseded' && cut !== 'fenced') return false
  reply.request.abortedBy = 'superseded'
  reply.hijack()
  reply.raw.destroy()
  return true
}
