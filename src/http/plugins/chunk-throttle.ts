import fp from 'fastify-plugin'
import { ChunkThrottle, type Intake } from '../chunk-throttle.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** How its connection is read; whoever reads the body goes by it. */
    intake?: Intake
  }
}

/** Has the bodies of all connections share the work for small chunks. */
export const chunkThrottlePlugin = fp(
  async (app) => {
    const throttle = new ChunkThrottle()
    app.addHook('onRequest', ({ raw }, reply, done) => {
      if (raw.headers['transfer-encoding'] !== undefined) {
        const intake = throttle.intakeOf(raw.socket)
        raw.intake = intake
        // Until somebody reads the body: Node would hold up to 64 KiB of it, in as many chunks as the client likes.
        intake.pause()
        reply.raw.once('close', () => intake.resume())
      }
      done()
    })
  },
  { name: 'chunk-throttle', fastify: '5.x', dependencies: ['connections'], decorators: {} },
)
