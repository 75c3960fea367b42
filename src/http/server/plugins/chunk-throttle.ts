import fp from 'fastify-plugin'
import { ChunkThrottle, type Intake } from '../../body/chunk-throttle.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How its body is read; the same each time. */
    readonly intake: Intake
  }
}

/** Has the bodies of all connections share the work for small chunks. */
export const chunkThrottlePlugin = fp(
  async (app) => {
    const throttle = new ChunkThrottle()
    app.decorateRequest('intake', {
      getter() {
        return throttle.intakeOf(this.raw)
      },
    })
    app.addHook('onRequest', ({ headers, intake }, reply, done) => {
      if (headers['transfer-encoding'] !== undefined) {
        // Until somebody reads the body: Node would hold up to 64 KiB of it, in as many chunks as the client likes.
        intake.pause()
        reply.raw.once('close', () => intake.resume())
      }
      done()
    })
  },
  { name: 'chunk-throttle', fastify: '5.x', dependencies: [], decorators: {} },
)
