import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '../../../core/errors.ts'
import { addVary } from '../vary.ts'

export interface SameSiteOptions {
  /** Origins, such as `https://app.example.com`, whose pages may write with the user's cookie. */
  readonly allowedOrigins: readonly string[]
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses with `cross_site_request` a write that another site's page made a browser send, cookie and all. A
 * multipart form needs no CORS preflight, so nothing else stands in its way. Browsers tell by `Sec-Fetch-Site`,
 * older ones by `Origin`; a request with neither comes from no browser.
 */
export const sameSitePlugin = fp<SameSiteOptions>(
  async (app, { allowedOrigins }) => {
    const allowed = new Set(allowedOrigins)
    app.addHook('onRequest', (request, reply, done) => {
      assertSameSite(request, reply, allowed)
      done()
    })
  },
  { name: 'same-site', fastify: '5.x', dependencies: ['request-log'], decorators: {} },
)

/** As `sameSitePlugin`, for one request: throws `cross_site_request` for a write from another site. */
export function assertSameSite(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: ReadonlySet<string> = new Set(),
): void {
  if (SAFE_METHODS.has(request.method)) return
  addVary(reply, 'Origin', 'Sec-Fetch-Site')
  if (isSameSite(request, allowed)) return
  throw new AppError('cross_site_request', 'Pages of another site may not write here.')
}

function isSameSite(request: FastifyRequest, allowed: ReadonlySet<string>): boolean {
  const { origin } = request.headers
  if (origin !== undefined && allowed.has(origin)) return true
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || ownOrigins(request).includes(origin.toLowerCase())
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
