import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { AppError } from '../../core/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods that the path of a fallback route answers. */
    allowedMethods?: readonly HTTPMethods[]
  }
}

/**
 * What every answer says to a browser, whatever its content is: take it for nothing but what it says it is, run and load
 * nothing, show it in no frame, give it to no page of another origin (which CORS mode, checked by `shareAnswer`, is
 * exempt from), and tell nobody its address.
 */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const

/** Adds to `Vary` the headers of the request that the answer depends on; a cache must not give it to another. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const given = reply.getHeader('vary')
  const known = given === undefined ? [] : String(given).split(', ')
  void reply.header('vary', [...new Set([...known, ...names])].join(', '))
}

/** What a page may read of an answer besides what the Fetch standard lets it. */
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

/** What a page may send besides what any page may. */
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

/** The longest that Chromium keeps one. Nothing hangs on it: each request itself is judged by its origin again. */
const MAX_AGE_SECONDS = 7200

/** A request, its answer, and the origins, such as `https://app.example.com`, whose pages may use the service. */
export interface CrossOrigin {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly allowed: ReadonlySet<string>
}

/**
 * Lets a page of an allowed origin read the answer, which it may have asked for with the user's cookie. Any other page's
 * browser keeps the answer from it, so for those nothing is said. An origin is allowed as a whole text or not at all:
 * `null`, which sandboxes and files send, can be on no list.
 */
export function shareAnswer({ request, reply, allowed }: CrossOrigin): void {
  // Also when no origin asks: a cache must not give a page the answer that was given to none.
  addVary(reply, 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowed.has(origin)) return
  void reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED_HEADERS,
  })
}

/**
 * Answers a CORS preflight, by which browsers ask what a page may do before they let it: to an allowed origin with the
 * methods of the path, to any other with 403 and no word more. Returns `false` for what the routes are to answer: an
 * `OPTIONS` that is no preflight, and a preflight for a path that is not here. A preflight carries no access token.
 */
export function answerPreflight({ request, reply, allowed }: CrossOrigin): boolean {
  const { origin, 'access-control-request-method': method } = request.headers
  if (origin === undefined || method === undefined) return false
  addVary(reply, 'Origin', 'Access-Control-Request-Method')
  if (!allowed.has(origin)) {
    throw new AppError('cross_site_request', 'Pages of this origin may not use this service.')
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
 * Throws `cross_site_request` for a write that another site's page made a browser send, cookie and all. A multipart form
 * needs no CORS preflight, so nothing else stands in its way. Browsers tell by `Sec-Fetch-Site`, older ones by `Origin`;
 * a request with neither comes from no browser.
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
  throw new AppError('cross_site_request', 'Pages of another site may not write here.')
}

/**
 * The origins of the service's own pages, as the request's browser would write them: by the scheme that a trusted proxy
 * or the connection says. An `http` page of a host that has HTTPS may be anyone's who sits in the network, so its writes
 * are not those of the `https` page. Where no proxy is trusted, what arrives by HTTP may have left the browser by
 * HTTPS, at a proxy of which the service was not told. Then `https` is taken as well: nobody can forge a page of it.
 */
function ownOrigins({ protocol, host, ips }: FastifyRequest): readonly string[] {
  // Fastify has `ips` only where it trusts a proxy.
  const schemes = protocol === 'http' && ips === undefined ? ['http', 'https'] : [protocol]
  return schemes.map((scheme) => `${scheme}://${host.toLowerCase()}`)
}
