import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** What of a request its id depends on. */
interface Arrived {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

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
