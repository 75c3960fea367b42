import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { addressOf, clientAddressOf } from '../../../src/http/server/request-address.ts'

const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.1' })

describe('the address of a request', () => {
  it.each(['203.0.113.7', '2001:db8::1', '::ffff:203.0.113.7'])(
    'is %s, as the proxy says',
    (ip) => {
      expect(addressOf({ ip, socket })).toBe(ip)
    },
  )

  it.each(['unknown', '"', '', '203.0.113.7:4711', 'a\u009b2J'])(
    'is that of the connection where %j stands in its place',
    (ip) => {
      expect(addressOf({ ip, socket })).toBe('10.0.0.1')
    },
  )
})

describe('the client that a request counts for', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['unknown', '10.0.0.1'],
  ])('is, for %s, %s', (ip, client) => {
    expect(clientAddressOf({ ip, socket })).toBe(client)
  })
})
