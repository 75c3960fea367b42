import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseClientAddress } from '../../../src/core/auth/client-address.ts'

describe('a client address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:192.0.2.7', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1::ffff:192.0.2.7', '1:0:0:0::/64'],
  ])('%s counts as %s', (text, address) => {
    expect(parseClientAddress(text)).toBe(address)
  })

  it.each(['', 'unknown', '192.0.2.7:80', '[::1]', '999.1.1.1', '_hidden', 'x'.repeat(10_000)])(
    'what is none counts as one client: %j',
    (text) => {
      expect(parseClientAddress(text)).toBe('unknown')
    },
  )

  it('addresses of one network of 64 bits are one, however they are written', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    // What stands for an IPv4 address begins with five groups of 0, and the test before this one has it.
    const groups = fc
      .array(group, { minLength: 8, maxLength: 8 })
      .filter((groups) => groups.slice(0, 5).some((group) => group !== 0))
    const property = fc.property(groups, fc.ipV6(), (groups, other) => {
      const text = groups.map((group) => group.toString(16)).join(':')
      const url = new URL(`http://[${text}]`).hostname.slice(1, -1)
      const network = groups.slice(0, 4).map((group) => group.toString(16))
      expect(parseClientAddress(url)).toBe(parseClientAddress(text))
      expect(parseClientAddress(text)).toBe(`${network.join(':')}::/64`)
      expect(parseClientAddress(other).length).toBeLessThan(30)
    })
    expect(() => fc.assert(property)).not.toThrow()
  })
})
