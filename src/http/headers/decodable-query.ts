import type { FastifyRequest } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'
import { queryText } from '../server/query.ts'

/**
 * Throws `invalid_parameter`, which names the parameter, for invalid UTF-8. The query parser leaves it undecoded, which
 * parameters that take any text do not refuse.
 */
export function assertQueryDecodable(request: FastifyRequest): void {
  for (const pair of queryText(request).split('&')) {
    try {
      decodeURIComponent(pair)
    } catch {
      const [name = ''] = pair.split('=', 1)
      throw invalidParameter(name, `The value of ${name} is not valid percent-encoded UTF-8.`)
    }
  }
}
