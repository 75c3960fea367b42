import type { FastifyReply } from 'fastify'
import { AppError } from '../core/errors.ts'

/**
 * Returns a signal that aborts when the client goes away before its answer was sent, or when `shutdown` does.
 * `request.signal` will not do for uploads: it aborts as soon as the body has been read to its end.
 */
export function requestSignal(reply: FastifyReply, shutdown: AbortSignal): AbortSignal {
  const gone = new AbortController()
  // It can have gone while its access token was being verified.
  if (reply.raw.destroyed) gone.abort(clientGone())
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(clientGone())
  })
  return AbortSignal.any([gone.signal, shutdown])
}

function clientGone(): AppError {
  return new AppError('truncated_body', 'The client closed the connection.')
}
