import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAppError, formatError } from '../../core/errors.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'
import { tellToContinue } from '../server/unread-body.ts'
import { atMost, bodyTooLarge, RequestBody } from './request-body.ts'

export interface TakeJsonOptions {
  readonly idleTimeoutMs: number
  readonly shutdown: AbortSignal
  /** Treats a missing body as `{}`. The route's schema refuses JSON that is not an object. */
  readonly isOptional?: boolean
  /** 16 KiB by default, far more than most bodies of the API need. */
  readonly maxBytes?: number
}

const MAX_BODY_BYTES = 16 * 1024

const BODILESS = new Set(['GET', 'HEAD', 'DELETE'])

/**
 * Makes the routes of a scope accept a JSON object in UTF-8. Refuses with `format_error` anything else, `__proto__`
 * keys, a large body (by Content-Length before it is read), and any body of a GET, HEAD or DELETE. A stalled body fails
 * with `request_timeout`. Sends `100 Continue` where expected.
 */
export function takeJson(app: FastifyInstance, options: TakeJsonOptions): void {
  const { isOptional = false, maxBytes = MAX_BODY_BYTES } = options
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, _raw, done) => {
    textOf(request, options).then(
      (text) => (isOptional && text === '' ? done(null) : parse(request, text, done)),
      done,
    )
  })
  app.addContentTypeParser('*', (_request, _raw, done) => {
    done(formatError('The Content-Type must be application/json.'))
  })
  // Not in `onRequest`: 405 takes precedence over any fault of the body.
  app.addHook('preParsing', async (request, reply) => {
    const { method, headers } = request
    const announced = contentLength(headers) ?? 0
    if (BODILESS.has(method) && (announced > 0 || headers['transfer-encoding'] !== undefined)) {
      throw formatError(`A ${method} request must not have a body.`)
    }
    if (announced > maxBytes) throw bodyTooLarge(maxBytes)
    tellToContinue(request, reply)
  })
  app.addHook('preValidation', async (request) => {
    const { body } = request
    // `null` counts as a body.
    if (isOptional && body === undefined) request.body = {}
    if (isOptional || (typeof body === 'object' && body !== null && !Array.isArray(body))) return
    throw formatError('The body must be a JSON object.')
  })
}

async function textOf(
  request: FastifyRequest,
  { idleTimeoutMs, shutdown: signal, maxBytes = MAX_BODY_BYTES }: TakeJsonOptions,
): Promise<string> {
  assertIdentity(request.headers)
  const check = atMost(maxBytes)
  const body = new RequestBody({ request, check, signal, idleTimeoutMs })
  try {
    const bytes = Buffer.concat(await body.stream.toArray())
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw formatError('The body is not valid UTF-8.', cause)
  }
}
