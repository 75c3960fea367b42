import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/errors.ts'
import { atMost, RequestBody, type RequestBodyOptions } from './request-body.ts'
import { assertIdentity } from '../headers/content-headers.ts'
import { tellToContinue } from '../server/plugins/expect-continue.ts'

export interface TakeJsonOptions {
  /** How long a body may stop coming, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly shutdown: AbortSignal
}

/** Far more than a file's name and a few members need. */
const MAX_BODY_BYTES = 16 * 1024

/**
 * Lets the routes of a scope take a JSON object in UTF-8. Anything else, a body that is too large and a key `__proto__`
 * are refused with `format_error`; a body that stops coming as that of an upload is.
 */
export function takeJson(app: FastifyInstance, { idleTimeoutMs, shutdown }: TakeJsonOptions): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addHook('preParsing', async (request, reply) => tellToContinue(request, reply))
  app.addContentTypeParser('application/json', (request, _raw, done) => {
    const options = { request, check: atMost(MAX_BODY_BYTES), signal: shutdown, idleTimeoutMs }
    textOf(options).then((text) => parse(request, text, done), done)
  })
  app.addContentTypeParser('*', (_request, _raw, done) => {
    done(new AppError('format_error', 'The body must be application/json.'))
  })
  app.addHook('preValidation', async ({ body }) => {
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return
    throw new AppError('format_error', 'The body must be a JSON object.')
  })
}

async function textOf(options: RequestBodyOptions): Promise<string> {
  assertIdentity(options.request.raw.headers)
  const chunks: Buffer[] = []
  for await (const chunk of new RequestBody(options).stream) chunks.push(chunk as Buffer)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new AppError('format_error', 'The body is not valid UTF-8.', { cause })
  }
}
