import { isIP } from 'node:net'

/** The unit by which wrong tokens are counted: an IPv4 address or an IPv6 network. */
export type ClientAddress = string & { readonly __brand: 'ClientAddress' }

/** Any text that is not an address, such as a name made up by a proxy, counts as one client. */
const UNKNOWN = 'unknown' as ClientAddress

/**
 * Never throws. IPv6 addresses count by /64, since one client has the whole network (RFC 6177, section 2); IPv4-mapped
 * ones count as IPv4.
 */
export function parseClientAddress(text: string): ClientAddress {
  const version = isIP(text)
  if (version === 0) return UNKNOWN
  if (version === 4) return text as ClientAddress
  const groups = groupsOf(text)
  if (isMapped(groups)) {
    const octets = groups.slice(6).flatMap((group) => [group >> 8, group & 255])
    return octets.join('.') as ClientAddress
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64` as ClientAddress
}

/** The eight groups of an IPv6 address (RFC 4291, section 2.2), without its zone. */
function groupsOf(text: string): readonly number[] {
  const [address = ''] = text.split('%')
  const [head = '', tail = ''] = address.split('::')
  const [left, right] = [numbersOf(head), numbersOf(tail)]
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => 0)
  return [...left, ...zeros, ...right]
}

/** IPv4-mapped (RFC 4291, section 2.5.5.2), as dual-stack sockets report IPv4 clients. */
function isMapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
}

function numbersOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    const [a = 0, b = 0, c = 0, d] = group.split('.').map(Number)
    return d === undefined ? [Number.parseInt(group, 16)] : [a * 256 + b, c * 256 + d]
  })
}
