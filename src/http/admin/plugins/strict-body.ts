import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import { AppError } from '../../../core/errors.ts'

const BODILESS = new Set(['GET', 'HEAD', 'DELETE'])

/**
 * Takes JSON in UTF-8 as the only body there is, and tells a client that waits for it to send it. None at all is an
 * empty object, so that a body without required members may be left out; a call that has no use for a body refuses one.
 */
export const strictBodyPlugin = fp(
  async (app) => {
    const parse = app.getDefaultJsonParser('error', 'error')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      (request, body: Buffer, done) => {
        if (body.length === 0) {
          done(null)
          return
        }
        try {
          void parse(request, new TextDecoder('utf-8', { fatal: true }).decode(body), done)
        } catch (cause) {
          done(new AppError('format_error', 'The body is not valid UTF-8.', { cause }))
        }
      },
    )
    // Not before the route has had its say: a method that the path does not have is 405 with any body.
    app.addHook('preParsing', async ({ method, headers, raw }, reply) => {
      if (BODILESS.has(method) && hasBody(raw)) {
        throw new AppError('format_error', `A ${method} has no body here.`)
      }
      // The listener leaves it to its routes, and takes no other expectation.
      if (headers.expect !== undefined) reply.raw.writeContinue()
    })
    app.addHook('preValidation', async (request) => {
      // `null` is a body, and none of ours.
      if (request.body === undefined) request.body = {}
    })
  },
  { name: 'strict-body', fastify: '5.x', dependencies: [], decorators: { request: ['intake'] } },
)

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
