import type { FastifyRequest } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'

/** The query parser leaves invalid UTF-8 undecoded. All parameters but the prefix have been refused for it by now. */
export function assertPrefixDecodable(
  { raw: { url = '' } }: FastifyRequest,
  parameter = 'prefix',
): void {
  try {
    decodeURIComponent(url)
  } catch {
    throw invalidParameter(parameter, 'The prefix is not valid percent-encoded UTF-8.')
  }
}
