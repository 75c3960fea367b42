import { isIP } from 'node:net'

/** Where a request comes from, as far as guessing is counted: an IPv4 address, or a network of IPv6. */
export type ClientAddress = string & { readonly __brand: 'ClientAddress' }

/** What is no address at all, such as what a proxy made up; all of it together is one client. */
const UNKNOWN = 'unknown' as ClientAddress

/**
 * Reads an IP address. Of IPv6 the first 64 bits count, since whoever has one address there has its whole network (RFC
 * 6177, section 2); an IPv4 address in IPv6's notation is that IPv4 address. Never throws.
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

/** The eight groups of an IPv6 address (RFC 4291, section 2.2), which may name a zone. */
function groupsOf(text: string): readonly number[] {
  const [address = ''] = text.split('%')
  const [head = '', tail = ''] = address.split('::')
  const [left, right] = [numbersOf(head), numbersOf(tail)]
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => 0)
  return [...left, ...zeros, ...right]
}

/** Whether it stands for an IPv4 address (RFC 4291, section 2.5.5.2), as sockets that take both have it. */
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
