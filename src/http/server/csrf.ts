import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { addVary } from '../headers/content-headers.ts'
import { originOf, parseOrigin, schemeOf } from './forwarded.ts'

/**
 * Throws `cross_site_request` for a write that another site's page made a browser send with its cookies: a multipart
 * form needs no preflight. Reads pass: they change nothing, and CORS keeps the answer from the page.
 */
export function assertSameSite(reply: FastifyReply, allowed?: ReadonlySet<string>): void {
  if (!SAFE_METHODS.has(reply.request.method)) assertOwnPage(reply, allowed)
}

/**
 * As `assertSameSite`, and for reads too. Judges by `Sec-Fetch-Site`, else by `Origin`; a request with neither is not
 * from a browser, or, if it is a read, from an old one.
 */
export function assertOwnPage(reply: FastifyReply, allowed?: ReadonlySet<string>): void {
  const { request } = reply
  addVary(reply, 'Origin', 'Sec-Fetch-Site')
  const { origin, 'sec-fetch-site': site } = request.headers
  const isSameSite =
    site === undefined
      ? origin === undefined || isOwn(request, origin)
      : site === 'same-origin' || site === 'none'
  if (isSameSite || (origin !== undefined && allowed?.has(origin) === true)) return
  const what = SAFE_METHODS.has(request.method) ? 'use this session' : 'make changes'
  throw new AppError('cross_site_request', `Pages on other sites are not allowed to ${what}.`)
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Behind a trusted proxy, `http` pages, which anyone in the network can forge, may not write to `https`. Without one,
 * an unknown proxy may have terminated TLS, so `https`, which nobody can forge, is accepted too.
 */
function isOwn(request: FastifyRequest, text: string): boolean {
  const origin = parseOrigin(text)
  const scheme = schemeOf(request)
  // Fastify sets `ips` only if it trusts a proxy.
  const schemes = scheme === 'http' && request.ips === undefined ? HTTP_AND_HTTPS : [scheme]
  return schemes.some((each) => originOf(request, each) === origin)
}

const HTTP_AND_HTTPS = ['http', 'https'] as const
