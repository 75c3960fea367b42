import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { AppError } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a fallback route: the methods that its path answers. */
    allowedMethods?: readonly HTTPMethods[]
  }
}

/** No sniffing, no scripts or loads, no frames, no other origins (except by CORS: `shareAnswer`), no referrer. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const

export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const given = reply.getHeader('vary')
  const known = given === undefined ? [] : String(given).split(', ')
  void reply.header('vary', [...new Set([...known, ...names])].join(', '))
}

/** Beyond the CORS-safelisted response headers. */
const EXPOSED_HEADERS = [
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

/** Beyond the CORS-safelisted request headers. */
const ALLOWED_HEADERS = [
  'Content-Type',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'Range',
  'Repr-Digest',
  'Want-Repr-Digest',
].join(', ')

/** Chromium's maximum. Harmless, since every request's origin is checked again. */
const MAX_AGE_SECONDS = 7200

export interface CrossOrigin {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly allowed: ReadonlySet<string>
}

/** Lets pages of allowed origins read the answer. `null`, which sandboxes and files send, is never allowed. */
export function shareAnswer({ request, reply, allowed }: CrossOrigin): void {
  // Also without `Origin`: a cache must not serve that answer to a page.
  addVary(reply, 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowed.has(origin)) return
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED_HEADERS,
  })
}

/** Answers preflights; other origins get `cross_site_request`. Returns `false` for other requests and unknown paths. */
export function answerPreflight({ request, reply, allowed }: CrossOrigin): boolean {
  const { origin, 'access-control-request-method': method } = request.headers
  if (origin === undefined || method === undefined) return false
  addVary(reply, 'Origin', 'Access-Control-Request-Method')
  if (!allowed.has(origin)) {
    throw new AppError(
      'cross_site_request',
      'Pages of this origin are not allowed to use this service.',
    )
  }
  const { allowedMethods } = request.routeOptions.config
  if (allowedMethods === undefined) return false
  const headers = {
    'access-control-allow-methods': allowedMethods.join(', '),
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': MAX_AGE_SECONDS,
  }
  void reply.code(204).headers(headers).send()
  return true
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Throws `cross_site_request` for a write that another site's page made a browser send with its cookies: a multipart
 * form needs no preflight. Judges by `Sec-Fetch-Site`, else by `Origin`; a request with neither is not from a browser.
 */
export function assertSameSite(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed?: ReadonlySet<string>,
): void {
  if (SAFE_METHODS.has(request.method)) return
  addVary(reply, 'Origin', 'Sec-Fetch-Site')
  const { origin, 'sec-fetch-site': site } = request.headers
  const isSameSite =
    site === undefined
      ? origin === undefined || ownOrigins(request).includes(origin.toLowerCase())
      : site === 'same-origin' || site === 'none'
  if (isSameSite || (origin !== undefined && allowed?.has(origin) === true)) return
  throw new AppError('cross_site_request', 'Pages of other sites are not allowed to make changes.')
}

/**
 * Behind a trusted proxy, `http` pages, which anyone in the network can forge, may not write to `https`. Without one,
 * an unknown proxy may have terminated TLS, so `https`, which nobody can forge, is accepted too.
 */
function ownOrigins({ protocol, host, ips }: FastifyRequest): readonly string[] {
  // Fastify sets `ips` only if it trusts a proxy.
  const schemes = protocol === 'http' && ips === undefined ? ['http', 'https'] : [protocol]
  return schemes.map((scheme) => `${scheme}://${host.toLowerCase()}`)
}
