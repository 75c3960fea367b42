import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '../../../core/errors.ts'

/**
 * Leaves it to the handlers to answer `Expect: 100-continue`, so that a client that asks first is refused before it
 * has sent a byte. Node would tell every client to go on before any handler has seen the request.
 */
export const expectContinuePlugin = fp(
  async (app) => {
    app.server.on('checkContinue', (request, response) => app.routing(request, response))
    app.server.on('checkExpectation', (request, response) => app.routing(request, response))
    app.addHook('onRequest', (request, _reply, done) => {
      if (request.headers.expect === undefined || expectsContinue(request)) return done()
      throw new AppError('format_error', 'Nothing but 100-continue can be expected.')
    })
  },
  { name: 'expect-continue', fastify: '5.x', dependencies: ['request-log'], decorators: {} },
)

/** Whether the client waits to be told to send its body. */
export function expectsContinue(request: FastifyRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue'
}

/** Tells a client that waits for it to send its body. */
export function tellToContinue(request: FastifyRequest, reply: FastifyReply): void {
  if (expectsContinue(request)) reply.raw.writeContinue()
}
