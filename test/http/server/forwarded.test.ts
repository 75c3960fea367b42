import { Socket } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { Connections } from '../../../src/http/server/connections.ts'
import { assertSameSite } from '../../../src/http/server/csrf.ts'
import {
  addressOf,
  clientAddressOf,
  hostnameOf,
  originOf,
  schemeOf,
  trustOf,
} from '../../../src/http/server/forwarded.ts'
import { createListener } from '../../../src/http/server/listener.ts'
import { isHttps } from '../../../src/http/pages/session-cookie.ts'

const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.1' })

describe('the address of a request', () => {
  it.each(['203.0.113.7', '2001:db8::1', '::ffff:203.0.113.7'])(
    'is %s, as the proxy says',
    (ip) => {
      expect(addressOf({ ip, socket })).toBe(ip)
    },
  )

  it.each([
    ['203.0.113.7:4711', '203.0.113.7'],
    ['"203.0.113.7:4711"', '203.0.113.7'],
    ['"203.0.113.7"', '203.0.113.7'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['"[2001:db8::1]:4711"', '2001:db8::1'],
    ['2001:db8::4711', '2001:db8::4711'],
    ['[::ffff:203.0.113.7]:1', '::ffff:203.0.113.7'],
    ['203.0.113.7:65535', '203.0.113.7'],
    ['[fe80::1%eth0]:65535', 'fe80::1'],
    [`fe80::1%${'z'.repeat(500)}`, 'fe80::1'],
  ])('is, for %s, %s', (ip, address) => {
    expect(addressOf({ ip, socket })).toBe(address)
  })

  it.each([
    'unknown',
    '"',
    '',
    '_hidden:80',
    'a\u009b2J',
    '203.0.113.7:',
    '203.0.113.7:port',
    '203.0.113.7:65536',
    '"[2001:db8::1]:99999"',
    '203.0.113.7:000080',
    '203.0.113.256:80',
    '203.0.113:80',
    '[203.0.113.7',
    '[]:80',
    '""',
    'for=203.0.113.7',
  ])('is that of the connection where %j stands in its place', (ip) => {
    expect(addressOf({ ip, socket })).toBe('10.0.0.1')
  })
})

describe('the client that a request counts for', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:1', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['[2001:db8::2]:9', '2001:db8:0:0::/64'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['[::FFFF:CB00:7107]:9', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['unknown', '10.0.0.1'],
  ])('is, for %s, %s', (ip, client) => {
    expect(clientAddressOf({ ip, socket })).toBe(client)
  })
})

describe('a proxy', () => {
  it.each([
    ['10.1.2.3', true],
    ['10.1.2.3:8080', true],
    ['::ffff:10.1.2.3', true],
    ['::FFFF:10.1.2.3', true],
    ['::ffff:0A01:203', true],
    ['::FFFF:11.1.2.3', false],
    ['10.1.2.3:65536', false],
    ['172.16.0.9', true],
    ['::ffff:172.16.0.9', true],
    ['172.17.0.9', false],
    ['192.0.2.7', true],
    ['[::ffff:10.1.2.3]:8080', true],
    ['"[fd00::5]:1"', true],
    ['fd00::5%eth0', true],
    ['192.168.0.2', false],
    ['fe00::5', false],
    ['unknown', false],
    [undefined, false],
  ])('a proxy at %s is trusted: %s', (address, isTrusted) => {
    expect(
      trustOf([
        '10.0.0.0/8',
        'fd00::/8',
        '192.168.0.1',
        '::FFFF:172.16.0.0/112',
        '::FFFF:192.0.2.7',
      ])(address),
    ).toBe(isTrusted)
  })
})

describe('behind a proxy', () => {
  let app: FastifyInstance | undefined

  afterEach(() => app?.close())

  async function openListener(trustedProxies: readonly string[]): Promise<FastifyInstance> {
    const { signal } = new AbortController()
    const signals = { stopping: signal, shutdown: signal }
    const connections = new Connections()
    app = await createListener({ logger: undefined, trustedProxies, connections, signals })
    app.post('/', async (request, reply) => {
      assertSameSite(reply)
      return {
        address: addressOf(request),
        scheme: schemeOf(request),
        origin: originOf(request),
        hostname: hostnameOf(request),
        isHttps: isHttps(request),
      }
    })
    return app
  }

  /** What a request tells, and the status of one with this `Origin`. */
  async function send(
    headers: Readonly<Record<string, string>>,
    trustedProxies: readonly string[] = ['127.0.0.1', '10.0.0.0/8'],
  ) {
    const listener = await openListener(trustedProxies)
    const request: InjectOptions = { method: 'POST', url: '/', remoteAddress: '127.0.0.1' }
    const answer = await listener.inject({ ...request, headers: { host: 'internal', ...headers } })
    return { status: answer.statusCode, told: answer.json<Record<string, unknown>>() }
  }

  it.each([
    ['203.0.113.7:51234', '203.0.113.7'],
    ['203.0.113.7:51234, 10.0.0.2:80', '203.0.113.7'],
    ['198.51.100.1, "[2001:db8::1]:4711", 10.0.0.3, "[::ffff:10.0.0.2]:80"', '2001:db8::1'],
    ['10.0.0.3:1,10.0.0.2:2', '10.0.0.3'],
    ['203.0.113.7, unknown', '127.0.0.1'],
  ])('X-Forwarded-For: %s is from %s', async (value, address) => {
    const { told } = await send({ 'x-forwarded-for': value })
    expect(told).toMatchObject({ address })
  })

  it.each([
    ['https', 'https'],
    ['HTTPS', 'https'],
    [' https ', 'https'],
    ['https,http', 'https'],
    ['Https, http, http', 'https'],
    ['http,https', 'http'],
    ['', 'http'],
    ['javascript', 'http'],
    ['https;', 'http'],
  ])('X-Forwarded-Proto: "%s" is %s, also for the cookies', async (value, scheme) => {
    const { told } = await send({ 'x-forwarded-proto': value })
    expect(told).toMatchObject({
      scheme,
      isHttps: scheme === 'https',
      origin: `${scheme}://internal`,
    })
  })

  it.each([
    ['files.example.com', 'https://files.example.com', 'files.example.com'],
    ['Files.Example.com:443', 'https://files.example.com', 'files.example.com'],
    ['files.example.com:8443', 'https://files.example.com:8443', 'files.example.com'],
    ['files.example.com:80', 'https://files.example.com:80', 'files.example.com'],
    ['files.example.com, internal:80', 'https://files.example.com', 'files.example.com'],
    ['[2001:DB8::1]:443', 'https://[2001:db8::1]', '[2001:db8::1]'],
    ['', 'https://internal', 'internal'],
    ['a/b', 'https://internal', 'internal'],
    ['evil"><script>', 'https://internal', 'internal'],
    ['user@evil.example.com', 'https://internal', 'internal'],
    ['files.example.com:65535', 'https://files.example.com:65535', 'files.example.com'],
    ['files.example.com:65536', 'https://internal', 'internal'],
    ['[2001:db8::1]:99999', 'https://internal', 'internal'],
    ['files.example.com:', 'https://files.example.com', 'files.example.com'],
  ])('X-Forwarded-Host: "%s" is %s', async (value, origin, hostname) => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': value }
    expect((await send(headers)).told).toMatchObject({ origin, hostname })
  })

  it.each([
    [200, 'https://files.example.com', { proto: 'https', host: 'files.example.com:443' }],
    [200, 'https://files.example.com', { proto: 'HTTPS', host: 'files.example.com' }],
    [200, 'https://files.example.com', { proto: 'https,http', host: 'FILES.example.com' }],
    [200, 'http://files.example.com', { proto: 'http', host: 'files.example.com:80' }],
    [200, 'https://files.example.com:443', { proto: 'https', host: 'files.example.com' }],
    [403, 'http://files.example.com', { proto: 'https', host: 'files.example.com:443' }],
    [403, 'https://files.example.com', { proto: 'https', host: 'files.example.com:8443' }],
    [403, 'https://files.example.com', { proto: 'https', host: 'files.example.com:80' }],
    [403, 'https://files.example.com.evil.example', { proto: 'https', host: 'files.example.com' }],
    [403, 'https://files.example.com@evil.example', { proto: 'https', host: 'files.example.com' }],
    [403, 'https:files.example.com', { proto: 'https', host: 'files.example.com' }],
    [403, 'https:\\\\files.example.com', { proto: 'https', host: 'files.example.com' }],
    [403, 'https:///files.example.com', { proto: 'https', host: 'files.example.com' }],
    [403, 'https://files.example.com/', { proto: 'https', host: 'files.example.com' }],
    [403, 'https://x@files.example.com', { proto: 'https', host: 'files.example.com' }],
    [403, 'null', { proto: 'https', host: 'files.example.com' }],
    [403, '', { proto: 'https', host: 'files.example.com' }],
    [403, 'file://files.example.com', { proto: 'https', host: 'files.example.com' }],
  ] as const)('%d: a write from %s to %j', async (status, origin, { proto, host }) => {
    const headers = { 'x-forwarded-proto': proto, 'x-forwarded-host': host, origin }
    expect((await send(headers)).status).toBe(status)
    // A proxy that keeps the client's Host.
    expect((await send({ 'x-forwarded-proto': proto, host, origin })).status).toBe(status)
  })

  it('refuses a Host with a port that there is not', async () => {
    for (const host of ['files.example.com:99999', '[::1]:65536', 'h:000080']) {
      expect((await send({ host })).status).toBe(400)
    }
  })

  it.each([
    ['files.example.com:443', 'https://files.example.com', 200],
    ['files.example.com:80', 'http://files.example.com', 200],
    ['files.example.com:443', 'http://files.example.com', 403],
    ['[::1]:80', 'http://[::1]', 200],
  ])(
    'a proxy that is not trusted: for %s a write from %s gets %d',
    async (host, origin, status) => {
      const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
      expect((await send({ ...forged, host, origin }, [])).status).toBe(status)
      expect((await send({ ...forged, host, origin: 'https://evil.example' }, [])).status).toBe(403)
      const elsewhere = await send({ ...forged, host }, ['192.0.2.1'])
      expect(elsewhere.told).toMatchObject({ scheme: 'http', address: '127.0.0.1' })
    },
  )
})
