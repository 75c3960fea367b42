import type { FastifyInstance } from 'fastify'
import { AppError } from '../core/errors.ts'

/** Far more than a file's name and a few members need. */
const MAX_BODY_BYTES = 16 * 1024

/**
 * Lets the routes of a scope take JSON, whatever Content-Type says so, and nothing else. What is no JSON, or is too
 * large, is refused with `format_error`. A key `__proto__` is refused too.
 */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
    parse,
  )
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(new AppError('format_error', 'The body must be application/json.'))
  })
}
