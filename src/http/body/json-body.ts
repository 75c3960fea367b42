import type {
  FastifyInstance,
  FastifyRequest,
  preParsingHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify'
import { formatError, isAppError } from '../../core/errors.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'
import { tellToContinue } from '../server/unread-body.ts'
import { addRouteHook } from './route-hooks.ts'
import { atMost, bodyTooLarge, RequestBody } from './request-body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For a route that takes a JSON object. All other routes read their body themselves. */
    json?: JsonBody | undefined
  }
}

export interface JsonBody {
  /** Treats a missing body as `{}`. */
  readonly isOptional?: boolean
  /** 16 KiB by default, far more than most bodies of the API need. */
  readonly maxBytes?: number
}

const MAX_BODY_BYTES = 16 * 1024

const BODILESS = new Set(['GET', 'HEAD', 'DELETE'])

/**
 * Makes routes with `config.json` accept a JSON object in UTF-8. Refuses with `format_error` anything else, `__proto__`
 * keys, a large body (by Content-Length before it is read), and any body of a GET, HEAD or DELETE. A stalled body fails
 * with `request_timeout`. Sends `100 Continue` where expected.
 */
export function takeJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, _raw, done) => {
    const { json } = request.routeOptions.config
    if (json === undefined) return done(null)
    readText(request, json).then(
      (text) => (json.isOptional && text === '' ? done(null) : parse(request, text, done)),
      done,
    )
  })
  app.addContentTypeParser('*', ({ routeOptions: { config } }, _raw, done) => {
    if (config.json === undefined) done(null)
    else done(formatError('The Content-Type must be application/json.'))
  })
  app.addHook('onRoute', (route) => {
    if (route.config?.json !== undefined) acceptJson(route, route.config.json)
  })
}

/** Makes the route accept a JSON object, as `config.json` would if it were known before any `onRoute` hook. */
export function acceptJson(route: RouteOptions, json: JsonBody): void {
  route.config = { ...route.config, json }
  // Not in `onRequest`: 405 takes precedence over any fault of the body.
  addRouteHook(route, 'preParsing', allowBody)
  addRouteHook(route, 'preValidation', requireObject)
}

const allowBody: preParsingHookHandler = (request, reply, ...[, done]) => {
  const { json } = request.routeOptions.config
  if (json !== undefined) assertAcceptable(request, json)
  tellToContinue(reply)
  done()
}

const requireObject: preValidationHookHandler = (request, _reply, done) => {
  // `null` counts as a body.
  if (request.routeOptions.config.json?.isOptional && request.body === undefined) request.body = {}
  assertObject(request.body)
  done()
}

function assertAcceptable(
  { method, headers }: FastifyRequest,
  { maxBytes = MAX_BODY_BYTES }: JsonBody,
): void {
  const announced = contentLength(headers) ?? 0
  if (BODILESS.has(method) && (announced > 0 || headers['transfer-encoding'] !== undefined)) {
    throw formatError(`A ${method} request must not have a body.`)
  }
  if (announced > maxBytes) throw bodyTooLarge(maxBytes)
}

function assertObject(body: unknown): void {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return
  throw formatError('The body must be a JSON object.')
}

async function readText(
  request: FastifyRequest,
  { maxBytes = MAX_BODY_BYTES }: JsonBody,
): Promise<string> {
  assertIdentity(request.headers)
  const { signals, idleTimeoutMs } = request.server
  const check = atMost(maxBytes)
  const body = new RequestBody({ request, check, signal: signals.shutdown, idleTimeoutMs })
  try {
    const bytes = Buffer.concat(await body.stream.toArray())
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw formatError('The body is not valid UTF-8.', cause)
  }
}
