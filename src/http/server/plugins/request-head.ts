import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import { AppError } from '../../../core/errors.ts'

/**
 * Refuses with `format_error` what the HTTP parser lets through and others could read in another way (sections of RFC
 * 9112): a `#` in the target, where the router would cut the path off and find another file; anything in place of the
 * first `/` of a path, which the router does not look at (3.2); any number of `Host` but one (3.2); a version of HTTP
 * that this is not (2.3), and chunks in HTTP/1.0 (6.1).
 */
export const requestHeadPlugin = fp(
  async (app) => {
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      if (raw.url?.includes('#') === true) {
        throw new AppError(
          'format_error',
          'The target of a request has no fragment: write # as %23.',
        )
      }
      if (!TARGET.test(raw.url ?? '')) {
        throw new AppError('format_error', 'The target of a request is a path or a URL.')
      }
      const { httpVersion } = raw
      if (httpVersion !== '1.1' && httpVersion !== '1.0') {
        throw new AppError('format_error', 'The version of HTTP is 1.1 or 1.0.')
      }
      if (httpVersion === '1.0' && raw.headers['transfer-encoding'] !== undefined) {
        throw new AppError('format_error', 'HTTP/1.0 has no Transfer-Encoding.')
      }
      const hosts = countOf('host', raw)
      if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
        throw new AppError('format_error', 'A request has exactly one Host.')
      }
      done()
    })
  },
  { name: 'request-head', fastify: '5.x', dependencies: ['request-log'], decorators: {} },
)

/** `*` is that of an `OPTIONS` for no resource. */
const TARGET = /^(?:\/|https?:\/\/|\*$)/i

function countOf(name: string, { rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length
}
