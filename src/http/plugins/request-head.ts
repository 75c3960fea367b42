import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import { AppError } from '../../core/errors.ts'

/**
 * Refuses with `format_error` what the HTTP parser lets through and others could read in another way: a `#` in the
 * target, where the router would cut the path off and find another file, and any number of `Host` but one (RFC 9112
 * section 3.2).
 */
export const requestHeadPlugin = fp(
  async (app) => {
    app.addHook('onRequest', async ({ raw }) => {
      if (raw.url?.includes('#') === true) {
        throw new AppError(
          'format_error',
          'The target of a request has no fragment: write # as %23.',
        )
      }
      const hosts = countOf('host', raw)
      if (hosts > 1 || (hosts === 0 && raw.httpVersion !== '1.0')) {
        throw new AppError('format_error', 'A request has exactly one Host.')
      }
    })
  },
  { name: 'request-head', fastify: '5.x' },
)

function countOf(name: string, { rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length
}
