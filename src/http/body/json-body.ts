import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../core/errors.ts'
import { assertIdentity, contentLength } from '../headers/content-headers.ts'
import { tellToContinue } from '../server/unread-body.ts'
import { atMost, RequestBody } from './request-body.ts'

export interface TakeJsonOptions {
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly shutdown: AbortSignal
  /** Whether a body may be left out, which then is an empty object. */
  readonly isOptional?: boolean
}

/** Far more than a file's name and a few members need. */
const MAX_BODY_BYTES = 16 * 1024

const BODILESS = new Set(['GET', 'HEAD', 'DELETE'])

/**
 * Lets the routes of a scope take a JSON object in UTF-8. Anything else, a body that is too large, a key `__proto__`, and
 * any body of a GET, HEAD or DELETE are refused with `format_error`, by a Content-Length before the body comes; a body that
 * stops coming is refused as that of an upload is. A client that expects `100-continue` is told to send its body. Where the
 * body is optional, JSON that is no object is left to the schema of the route.
 */
export function takeJson(app: FastifyInstance, options: TakeJsonOptions): void {
  const { isOptional = false } = options
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, _raw, done) => {
    textOf(request, options).then(
      (text) => (isOptional && text === '' ? done(null) : parse(request, text, done)),
      done,
    )
  })
  app.addContentTypeParser('*', (_request, _raw, done) => {
    done(new AppError('format_error', 'The body must be application/json.'))
  })
  // Not before the route has had its say: a method that the path does not have is 405 with any body.
  app.addHook('preParsing', async (request, reply) => {
    const { method, headers } = request
    const announced = contentLength(headers) ?? 0
    if (BODILESS.has(method) && (announced > 0 || headers['transfer-encoding'] !== undefined)) {
      throw new AppError('format_error', `A ${method} has no body here.`)
    }
    if (announced > MAX_BODY_BYTES) throw new AppError('format_error', 'The body is too large.')
    tellToContinue(request, reply)
  })
  app.addHook('preValidation', async (request) => {
    const { body } = request
    // `null` is a body.
    if (isOptional && body === undefined) request.body = {}
    if (isOptional || (typeof body === 'object' && body !== null && !Array.isArray(body))) return
    throw new AppError('format_error', 'The body must be a JSON object.')
  })
}

async function textOf(
  request: FastifyRequest,
  { idleTimeoutMs, shutdown: signal }: TakeJsonOptions,
): Promise<string> {
  assertIdentity(request.headers)
  const check = atMost(MAX_BODY_BYTES)
  const body = new RequestBody({ request, check, signal, idleTimeoutMs })
  try {
    const bytes = Buffer.concat(await body.stream.toArray())
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw new AppError('format_error', 'The body is not valid UTF-8.', { cause })
  }
}
