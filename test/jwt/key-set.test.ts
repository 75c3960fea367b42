import { generateKeyPairSync } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createJwtVerifier } from '../../src/jwt/jwt-verifier.ts'
import type { KeySetOptions } from '../../src/jwt/key-set.ts'
import {
  type IdentityProvider,
  startIdentityProvider,
} from '../support/servers/identity-provider.ts'

const invalid = { code: 'access_token_invalid' }
const unavailable = { code: 'unavailable' }
const UNUSABLE = { code: 'access_token_invalid', cause: { code: 'ERR_JWK_INVALID' } }

let provider: IdentityProvider
let clock: { now: number }

beforeEach(async () => {
  provider = await startIdentityProvider()
  await provider.addKey('first')
  clock = { now: 1_000_000 }
})
afterEach(() => provider.stop().catch(() => {}))

/** Verifies JWTs that a key of the provider signs, by its keys as they are fetched. */
function openVerify(warn?: KeySetOptions['warn']) {
  const verifier = createJwtVerifier({ ...provider, timeoutMs: 300, clock: () => clock.now, warn })
  return async (kid: string) => verifier.verify(await provider.sign({ kid }))
}

const SECOND = 1000
const MINUTE = 60 * SECOND

describe('the keys', () => {
  it('are fetched once for many JWTs, when the first comes', async () => {
    const verify = openVerify()
    expect(provider.requests()).toBe(0)
    await Promise.all(Array.from({ length: 20 }, () => verify('first')))
    await verify('first')
    expect(provider.requests()).toBe(1)
  })

  it('new keys are known without a restart, after 5 s at most', async () => {
    const verify = openVerify()
    await verify('first')
    await provider.addKey('second')
    clock.now += 4999
    await expect(verify('second')).rejects.toMatchObject(invalid)
    clock.now += 1
    expect(await verify('second')).toMatchObject({ userId: 'alice' })
    expect(await verify('first')).toMatchObject({ userId: 'alice' })
    expect(provider.requests()).toBe(2)
  })

  it('keys that are published no longer are refused after 5 minutes', async () => {
    const verify = openVerify()
    await verify('first')
    await provider.addKey('second')
    provider.removeKey('first')
    clock.now += 5 * MINUTE - 1
    await verify('first')
    clock.now += 1
    await expect(verify('first')).rejects.toMatchObject(invalid)
  })

  it('are asked for every 5 s at most by a flood of JWTs with unknown ones', async () => {
    const verify = openVerify()
    await verify('first')
    const [before, kids] = [provider.requests(), Array.from({ length: 30 }, (_, at) => `${at}`)]
    for (const kid of kids) await provider.addKey(kid).then(() => provider.removeKey(kid))
    for (let round = 0; round < 3; round++) {
      clock.now += 5 * SECOND
      const verified = await Promise.allSettled(kids.map(verify))
      expect(verified.every(({ status }) => status === 'rejected')).toBe(true)
      expect(provider.requests()).toBe(before + round + 1)
      expect(await verify('first')).toMatchObject({ userId: 'alice' })
    }
  })

  it('keys with the same name for two algorithms are told apart', async () => {
    await provider.addKey('first', 'RS256')
    expect(await openVerify()('first')).toMatchObject({ userId: 'alice' })
  })

  it.each([
    ['malformed', { kty: 'EC', kid: 'first', alg: 'ES256', crv: 'P-256', x: '!', y: '!' }],
    ['too short', { kty: 'RSA', kid: 'first', n: 'A'.repeat(171), e: 'AQAB' }],
    [
      'of 1,024 bits',
      {
        ...generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }),
        kid: 'first',
        alg: 'RS256',
      },
    ],
  ])('keys that are %s refuse their JWTs, and are logged once', async (_how, jwk) => {
    const { alg = 'RS256' } = jwk as { alg?: string }
    await provider.addKey('first', alg)
    provider.answerWith((_request, response) => response.end(JSON.stringify({ keys: [jwk] })))
    const warnings: string[] = []
    const verify = openVerify((_, message) => warnings.push(message))
    for (let round = 1; round <= 2; round++) {
      for (let at = 0; at < 3; at++) {
        await expect(verify('first')).rejects.toMatchObject(UNUSABLE)
      }
      expect(warnings).toEqual(Array(round).fill('a key of the identity provider cannot be used'))
      clock.now += 5 * MINUTE
    }
  })
})

describe('keys that can not be fetched', () => {
  it.each<[what: string, listener: RequestListener]>([
    ['500', (_request, response) => response.writeHead(500).end('{"keys": []}')],
    ['404', (_request, response) => response.writeHead(404).end()],
    ['204', (_request, response) => response.writeHead(204).end()],
    [
      'a redirect',
      (request, response) => {
        if (request.url === '/jwks') response.writeHead(302, { location: '/other' }).end()
        else response.end('{"keys": []}')
      },
    ],
    ['garbage', (_request, response) => response.end('<html>')],
    ['other JSON', (_request, response) => response.end('{"keys": 5}')],
    ['null', (_request, response) => response.end('null')],
    ['nothing', (_request, response) => response.end()],
    ['too much', (_request, response) => response.end(`{"keys": []}${' '.repeat(2 ** 20)}`)],
    ['no answer', () => {}],
    ['half an answer', (_request, response) => response.write('{"keys": [')],
    ['a broken connection', (request) => request.socket.destroy()],
  ])(
    'keys that can not be fetched, since the answer is %s, do not make the JWT invalid',
    async (_what, listener) => {
      provider.answerWith(listener)
      const verify = openVerify()
      const start = performance.now()
      await expect(verify('first')).rejects.toMatchObject(unavailable)
      expect(performance.now() - start).toBeLessThan(3_000)
      provider.answerWith(undefined)
      clock.now += 5 * SECOND
      expect(await verify('first')).toMatchObject({ userId: 'alice' })
    },
  )

  it('say why in the cause', async () => {
    await provider.stop()
    const failed = openVerify()('first')
    await expect(failed).rejects.toMatchObject({
      ...unavailable,
      cause: expect.any(Error) as Error,
    })
  })

  it('are asked for, and complained about, every 5 s at most, however many JWTs come', async () => {
    provider.answerWith((_request, response) => response.writeHead(500).end())
    const causes: unknown[] = []
    const verify = openVerify((cause) => causes.push(cause))
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < 10; at++)
        await expect(verify('first')).rejects.toMatchObject({ ...unavailable, isLogged: true })
      expect(provider.requests()).toBe(round + 1)
      expect(causes).toHaveLength(round + 1)
      clock.now += 5 * SECOND
    }
  })

  it('leave those in force that are known, and the others undecided', async () => {
    const verify = openVerify()
    await verify('first')
    await provider.addKey('second')
    await provider.stop()
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.now += MINUTE
      expect(await verify('first')).toMatchObject({ userId: 'alice' })
    }
    await expect(verify('second')).rejects.toMatchObject(unavailable)
    await provider.start()
    clock.now += 5 * SECOND
    expect(await verify('second')).toMatchObject({ userId: 'alice' })
    await provider.addKey('third')
    provider.removeKey('third')
    await expect(verify('third')).rejects.toMatchObject(invalid)
  })

  it('are waited for together, however long it takes', async () => {
    provider.answerWith(() => {})
    const verify = openVerify()
    const first = verify('first')
    await expect.poll(provider.requests).toBe(1)
    clock.now += 5 * SECOND
    await expect(Promise.all([first, verify('first')])).rejects.toMatchObject(unavailable)
    expect(provider.requests()).toBe(1)
  })

  it('hold up no JWT whose key is known but the one that finds out', async () => {
    const verify = openVerify()
    await verify('first')
    provider.answerWith(() => {})
    clock.now += 5 * MINUTE
    await verify('first')
    const before = provider.requests()
    for (let round = 0; round < 3; round++) {
      clock.now += 5 * SECOND
      const start = performance.now()
      await verify('first')
      expect(performance.now() - start).toBeLessThan(1_500)
    }
    await expect.poll(provider.requests).toBeGreaterThan(before)
  })
})
