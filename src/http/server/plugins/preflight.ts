import type { FastifyRequest, HTTPMethods } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '../../../core/errors.ts'
import { addVary } from '../vary.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods that the path of a fallback route answers. */
    allowedMethods?: readonly HTTPMethods[]
  }
}

export interface PreflightOptions {
  /** Origins, such as `https://app.example.com`, whose pages may use the API. */
  readonly allowedOrigins: readonly string[]
}

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

/**
 * Answers CORS preflights, by which browsers ask what a page may do before they let it: to an allowed origin with the
 * methods of the path, to any other with 403 and no word more. An `OPTIONS` that is no preflight goes on to the routes.
 * Registered before the access token is looked at, since a preflight carries none.
 */
export const preflightPlugin = fp<PreflightOptions>(
  async (app, { allowedOrigins }) => {
    const allowed = new Set(allowedOrigins)
    app.addHook('onRequest', (request, reply, done) => {
      if (!isPreflight(request)) return done()
      addVary(reply, 'Origin', 'Access-Control-Request-Method')
      if (!allowed.has(request.headers.origin ?? '')) {
        throw new AppError('cross_site_request', 'Pages of this origin may not use this service.')
      }
      const { allowedMethods } = request.routeOptions.config
      // The routes say what is wrong with the path.
      if (allowedMethods === undefined) return done()
      const headers = {
        'access-control-allow-methods': allowedMethods.join(', '),
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS,
      }
      void reply.code(204).headers(headers).send()
      return undefined
    })
  },
  { name: 'preflight', fastify: '5.x', dependencies: ['request-log'], decorators: {} },
)

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}
