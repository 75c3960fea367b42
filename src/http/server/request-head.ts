import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { type ClientAddress, parseClientAddress } from '../../core/auth/client-address.ts'
import { AppError } from '../../core/errors.ts'

/**
 * Throws `format_error` for what the HTTP parser lets through and others could read in another way (sections of RFC
 * 9112): a `#` in the target, where the router would cut the path off and find another file; anything in place of the
 * first `/` of a path, which the router does not look at (3.2); any number of `Host` but one (3.2); a version of HTTP
 * that this is not (2.3), and chunks in HTTP/1.0 (6.1).
 */
export function assertUnambiguous({ url = '', httpVersion, headers, rawHeaders }: IncomingMessage) {
  if (url.includes('#')) {
    throw new AppError('format_error', 'The target of a request has no fragment: write # as %23.')
  }
  if (!TARGET.test(url)) {
    throw new AppError('format_error', 'The target of a request is a path or a URL.')
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw new AppError('format_error', 'The version of HTTP is 1.1 or 1.0.')
  }
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    throw new AppError('format_error', 'HTTP/1.0 has no Transfer-Encoding.')
  }
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    throw new AppError('format_error', 'A request has exactly one Host.')
  }
}

/** `*` is that of an `OPTIONS` for no resource. */
const TARGET = /^(?:\/|https?:\/\/|\*$)/i

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What of a request its id depends on. */
type Arrived = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Names requests. One that comes from a proxy of these (addresses and networks, CIDR) keeps the UUID that it has in
 * `X-Request-Id`, so that the proxy's log and ours say the same; any other gets a new one, since what strangers make up
 * could name two requests alike.
 */
export function requestIds(trustedProxies: readonly string[]): (request: Arrived) => string {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/')
    const family = familyOf(address)
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return ({ headers, socket: { remoteAddress = '' } }) => {
    const given = headers['x-request-id']?.toString().toLowerCase() ?? ''
    if (!UUID.test(given) || isIP(remoteAddress) === 0) return randomUUID()
    return trusted.check(remoteAddress, familyOf(remoteAddress)) ? given : randomUUID()
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

/**
 * The address that a request comes from: what a trusted proxy says in `X-Forwarded-For`, as long as that is an IP
 * address, else the address of the connection. A text that is none, such as `unknown` or `"`, would be one client for
 * all that send it, and would stand in the log as a client wrote it.
 */
export function addressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? 'unknown') : ip
}

/** The client that a request counts for where guesses and downloads are counted by address. */
export function clientAddressOf(request: Pick<FastifyRequest, 'ip' | 'socket'>): ClientAddress {
  return parseClientAddress(addressOf(request))
}

/**
 * The different values that a request shows for the session `name`: those of the cookie `name` and of the one that has
 * `__Host-` before it. Over HTTPS the latter decides alone, since no subdomain and no page without TLS can set it, so
 * that none can lock the user out by a cookie that differs. By HTTP it is no better than the other: a browser lets any
 * port of its own machine set it. As the service knows it, that is: an `https` that no trusted proxy tells is HTTP here.
 */
export function shownValues(request: FastifyRequest, name: string): readonly string[] {
  const { headers, protocol, server } = request
  const ofHost = new Set<string>()
  const ofName = new Set<string>()
  // Pair by pair: of the whole header the parser would tell the first cookie of a name alone.
  for (const pair of headers.cookie?.includes(name) === true ? headers.cookie.split(';') : []) {
    const cookies = server.parseCookie(pair)
    const bound = cookies[HOST_PREFIX + name]
    const plain = cookies[name]
    if (bound !== undefined) ofHost.add(bound)
    if (plain !== undefined) ofName.add(plain)
  }
  if (protocol === 'https' && ofHost.size > 0) return [...ofHost]
  return [...new Set([...ofHost, ...ofName])]
}

/** Browsers take a cookie of such a name from the host itself alone, with `Secure`, for `/`. */
export const HOST_PREFIX = '__Host-'
