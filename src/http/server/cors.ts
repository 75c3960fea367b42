import type { FastifyReply, HTTPMethods } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { addVary } from '../headers/content-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods that the path of this fallback route supports. */
    allowedMethods?: readonly HTTPMethods[]
    /** For a route that handles OPTIONS itself: the methods that preflights allow. */
    preflightMethods?: readonly HTTPMethods[]
  }
}

/** In addition to the CORS-safelisted response headers. */
const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Location',
  'Repr-Digest',
  'Retry-After',
  'Tus-Checksum-Algorithm',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Defer-Length',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-Request-Id',
].join(', ')

/** In addition to the CORS-safelisted request headers. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'File-Metadata',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'Last-Event-ID',
  'Range',
  'Repr-Digest',
  'Tus-Resumable',
  'Upload-Checksum',
  // Refused, but by an answer that says why, not by the preflight.
  'Upload-Concat',
  'Upload-Defer-Length',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'Want-Repr-Digest',
  'X-HTTP-Method-Override',
  'X-Request-ID',
].join(', ')

/** Chromium's maximum. Harmless, since every request's origin is checked again. */
const MAX_AGE_SECONDS = 7200

/** Lets pages of allowed origins read the answer. `null`, which sandboxes and files send, is never allowed. */
export function shareAnswer(reply: FastifyReply, allowed: ReadonlySet<string>): void {
  // Needed even without `Origin`: a cache must not serve that answer to a page.
  addVary(reply, 'Origin')
  const { origin } = reply.request.headers
  if (origin === undefined || !allowed.has(origin)) return
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED_HEADERS,
  })
}

/** Answers preflights; other origins get `cross_site_request`. Returns `false` for other requests and unknown paths. */
export function answerPreflight(reply: FastifyReply, allowed: ReadonlySet<string>): boolean {
  const { headers: asked, routeOptions } = reply.request
  const { origin, 'access-control-request-method': method } = asked
  if (origin === undefined || method === undefined) return false
  addVary(reply, 'Origin', 'Access-Control-Request-Method')
  if (!allowed.has(origin)) {
    throw new AppError(
      'cross_site_request',
      'Pages from this origin are not allowed to use this service.',
    )
  }
  const { config } = routeOptions
  const allowedMethods = config.allowedMethods ?? config.preflightMethods
  if (allowedMethods === undefined) return false
  const headers = {
    'access-control-allow-methods': allowedMethods.join(', '),
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': MAX_AGE_SECONDS,
  }
  void reply.code(204).headers(headers).send()
  return true
}
