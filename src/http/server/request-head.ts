import type { IncomingMessage } from 'node:http'
import { formatError } from '../../core/errors.ts'
import { isPortNumber } from '../../core/port-number.ts'

/**
 * Throws `format_error` for what others may read differently (RFC 9112): a `#` in the target, where the router would
 * cut it; a target that is neither path nor URL (3.2); not exactly one well-formed `Host` (3.2); other versions (2.3);
 * chunks in HTTP/1.0 (6.1).
 */
export function assertUnambiguous({ url = '', httpVersion, headers, rawHeaders }: IncomingMessage) {
  if (url.includes('#')) {
    throw formatError('The request target must not contain a "#". Encode it as %23.')
  }
  if (!TARGET.test(url)) {
    throw formatError('The request target must be a path or a URL.')
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw formatError('The HTTP version must be 1.1 or 1.0.')
  }
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    throw formatError('An HTTP/1.0 request must not have a Transfer-Encoding header.')
  }
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    throw formatError('A request must have exactly one Host header.')
  }
  if (!isHost(headers.host ?? '')) {
    throw formatError('The Host header must be a name or an address, and may have a port.')
  }
}

/** `uri-host` and a port (RFC 3986, sections 3.2.2 and 3.2.3), without a look at what the numbers of an address mean. */
export function isHost(text: string): boolean {
  const found = HOST.exec(text)
  if (found === null) return false
  const [, port = ''] = found
  return port === '' || isPortNumber(port)
}

const HOST = /^(?:\[[\w.~:%-]+\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(?::(\d*))?$/i

/** `*` is for `OPTIONS`. */
const TARGET = /^(?:\/|https?:\/\/|\*$)/i
