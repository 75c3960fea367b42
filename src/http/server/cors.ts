import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from './vary.ts'

/** What a page may read of an answer besides what the Fetch standard lets it. */
const EXPOSED = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Repr-Digest',
  'Retry-After',
  'X-Request-Id',
].join(', ')

/**
 * Lets a page of one of the `allowed` origins read the answer, which it may have asked for with the user's cookie. Any
 * other page's browser keeps the answer from it, so for those nothing is said. An origin is allowed as a whole text or
 * not at all: `null`, which sandboxes and files send, can be on no list.
 */
export function shareAnswer(
  allowed: ReadonlySet<string>,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): void {
  if (allowed.size === 0) return
  // Also when no origin asks: a cache must not give a page the answer that was given to none.
  addVary(reply, 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowed.has(origin)) return
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
  })
}
