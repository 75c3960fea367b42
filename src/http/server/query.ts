import { parse } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'

/**
 * Unknown parameters are ignored, but thousands would take 200 KB while a request waits. All routes but one have fewer than
 * half as many.
 */
const MAX_QUERY_PARAMETERS = 32

/** Keeps the first parameters. Malformed text stays as it is, for the routes to refuse. */
export function parseQuery(
  text: string,
  maxKeys: number = MAX_QUERY_PARAMETERS,
): Record<string, unknown> {
  return parse(text, '&', '=', { maxKeys, decodeURIComponent: decodeUnlessMalformed })
}

/** What follows the first question mark. */
export function queryText({ raw: { url = '' } }: FastifyRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function decodeUnlessMalformed(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

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
