import type { FastifyReply } from 'fastify'
import { AppError } from '../../core/errors.ts'

/**
 * Returns a signal that aborts when the client goes away before its answer was sent, or when `shutdown` does.
 * `request.signal` will not do for uploads: it aborts as soon as the body has been read to its end.
 */
export function requestSignal(reply: FastifyReply, shutdown: AbortSignal): AbortSignal {
  const { raw } = reply
  const over = new AbortController()
  // `AbortSignal.any` would do it for several times the price.
  const end = (): void => over.abort(shutdown.reason)
  // It can have gone while its access token was being verified.
  if (raw.destroyed) over.abort(clientGone())
  if (shutdown.aborted) end()
  if (over.signal.aborted) return over.signal
  shutdown.addEventListener('abort', end)
  raw.once('close', () => {
    shutdown.removeEventListener('abort', end)
    if (!raw.writableFinished) over.abort(clientGone())
  })
  return over.signal
}

function clientGone(): AppError {
  return new AppError('truncated_body', 'The client closed the connection.')
}
