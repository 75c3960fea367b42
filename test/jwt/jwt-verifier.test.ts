import { createHash, createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { type CryptoKey, exportSPKI, importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JwtVerifier } from '../../src/core/auth/jwt-verifier.ts'
import { createJwtVerifier } from '../../src/jwt/jwt-verifier.ts'
import {
  type IdentityProvider,
  startIdentityProvider,
} from '../support/servers/identity-provider.ts'

const invalid = { code: 'access_token_invalid', facts: {} }
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']

let provider: IdentityProvider
let verifier: JwtVerifier
let rsaKey: JWK

beforeAll(async () => {
  provider = await startIdentityProvider()
  for (const alg of ALGORITHMS) await provider.addKey(alg, alg)
  rsaKey = await provider.addKey('rsa', 'RS256')
  verifier = createJwtVerifier(provider)
})
afterAll(() => provider.stop())

/** Seconds since 1970, so many from now. */
function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds
}

/** Claims that are times, in seconds from now. */
function claimsAt(times: Readonly<Record<string, number>>): Record<string, number> {
  const entries = Object.entries(times).map(([name, seconds]) => [name, secondsFromNow(seconds)])
  return Object.fromEntries(entries) as Record<string, number>
}

/** A JWT of any header and claims, with any signature. */
function compose(header: object, claims: object, sign: (signed: string) => string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${sign(signed)}`
}

function validClaims() {
  const { issuer, audience } = provider
  return { iss: issuer, aud: audience, sub: 'alice', exp: secondsFromNow(60) }
}

describe('a JWT', () => {
  it.each(ALGORITHMS)(
    'a JWT that is signed with %s stands for its sub until its exp',
    async (alg) => {
      const jwt = await provider.sign({ kid: alg })
      const { userId, expiresInMs } = await verifier.verify(jwt)
      expect(userId).toBe('alice')
      expect(expiresInMs).toBeGreaterThan(50_000)
      expect(expiresInMs).toBeLessThanOrEqual(65_000)
    },
  )

  it('an expired JWT is good where expired ones are, and no other is', async () => {
    const exp = secondsFromNow(-60)
    const expired = await provider.sign({ kid: 'ES256', claims: { exp } })
    await expect(verifier.verify(expired)).rejects.toMatchObject(invalid)
    const { userId, expiresInMs } = await verifier.verify(expired, { evenExpired: true })
    expect({ userId, isOver: expiresInMs < 0 }).toEqual({ userId: 'alice', isOver: true })
    const others = [
      await provider.sign({ kid: 'ES256', claims: { exp, aud: 'another' } }),
      await provider.sign({ kid: 'ES256', claims: { exp, iss: 'another' } }),
      await provider.sign({ kid: 'rsa', header: { kid: 'RS256' }, claims: { exp } }),
      compose({ alg: 'ES256', kid: 'ES256' }, { ...validClaims(), exp }, () => 'AAAA'),
    ]
    for (const jwt of others) {
      await expect(verifier.verify(jwt, { evenExpired: true })).rejects.toMatchObject(invalid)
    }
  })

  it('may be for several audiences', async () => {
    const claims = { aud: ['other', provider.audience] }
    const jwt = await provider.sign({ kid: 'ES256', claims })
    expect(await verifier.verify(jwt)).toMatchObject({ userId: 'alice' })
  })

  it.each([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of no issuer', { iss: undefined }],
    ['for another audience', { aud: 'other' }],
    ['for no audience', { aud: undefined }],
    ['without exp', { exp: undefined }],
    ['with an exp that is no number', { exp: 'tomorrow' }],
    ['of nobody', { sub: undefined }],
    ['of an empty sub', { sub: '' }],
    ['of a sub that is a number', { sub: 5 }],
    ['of a sub with an unpaired surrogate', { sub: 'a\ud800' }],
  ])('%s is invalid', async (_which, claims) => {
    const jwt = await provider.sign({ kid: 'ES256', claims })
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })

  it.each([
    ['expired 4 s ago', { exp: -4 }],
    ['is in force in 4 s', { nbf: 4 }],
  ])('a JWT that %s is taken, since clocks may differ by 5 s', async (_when, times) => {
    const jwt = await provider.sign({ kid: 'ES256', claims: claimsAt(times) })
    expect(await verifier.verify(jwt)).toMatchObject({ userId: 'alice' })
  })

  it.each([
    'me',
    'auth0|1234',
    'a@example.org',
    'alice\n',
    'a'.repeat(65),
    `jwt_${'A'.repeat(43)}`,
  ])(
    'a JWT of a subject that is no user id, or looks like a mapped one, has an id of its own: %j',
    async (sub) => {
      const jwt = await provider.sign({ kid: 'ES256', claims: { sub } })
      const id = createHash('sha256').update(sub).digest('base64url')
      expect(await verifier.verify(jwt)).toMatchObject({ userId: `jwt_${id}` })
    },
  )

  describe('with claims of its own', () => {
    const verify = async (claims: object) => {
      const own = { ...provider, userClaim: 'user', scopeClaim: 'repo' }
      const jwt = await provider.sign({
        kid: 'ES256',
        claims: { sub: 'alice', user: 'bob', ...claims },
      })
      return await createJwtVerifier(own).verify(jwt)
    }

    it('names the user by one', async () => {
      expect(await verify({})).toMatchObject({ userId: 'bob', scope: undefined })
      await expect(verify({ user: undefined })).rejects.toMatchObject(invalid)
    })

    it('has the scope in another', async () => {
      const repo = { actions: ['create', 'read'], prefix: 'cam-', device_id: 'camera-1' }
      const scope = { actions: ['read', 'create'], prefix: 'cam-', deviceId: 'camera-1' }
      expect(await verify({ repo })).toMatchObject({ scope })
    })

    it.each(['read', null, [], { actions: [] }, { actions: ['everything'] }, { admin: true }])(
      'is invalid if the scope is malformed: %j',
      async (repo) => {
        await expect(verify({ repo })).rejects.toMatchObject(invalid)
      },
    )
  })

  it.each([
    ['expired 6 s ago', { exp: -6 }],
    ['is in force in 8 s', { nbf: 8 }],
  ])('a JWT that %s is invalid', async (_when, times) => {
    const jwt = await provider.sign({ kid: 'ES256', claims: claimsAt(times) })
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })

  it('must name its key', async () => {
    const jwt = await provider.sign({ kid: 'ES256', header: { kid: undefined } })
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })

  it('a JWT with a critical extension that nobody knows is invalid', async () => {
    const header = { alg: 'ES256', kid: 'ES256', crit: ['b64x'], b64x: true }
    const jwt = compose(header, validClaims(), () => 'AAAA')
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })
})

describe('a signature', () => {
  it.each(['none', 'None', 'NONE', ''])(
    'a signature of the algorithm "%s" is refused',
    async (alg) => {
      for (const signature of ['', 'AAAA']) {
        const jwt = compose({ alg, kid: 'rsa' }, validClaims(), () => signature)
        await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
      }
    },
  )

  it('a signature of a shared secret is refused, also when the secret is the public key', async () => {
    const publicKey = await importJWK(rsaKey, 'RS256', { extractable: true })
    const pem = await exportSPKI(publicKey as CryptoKey)
    for (const secret of [pem, pem.trim(), JSON.stringify(rsaKey), rsaKey.n ?? '', '']) {
      const sign = (signed: string) =>
        createHmac('sha256', secret).update(signed).digest('base64url')
      const jwt = compose({ alg: 'HS256', kid: 'rsa' }, validClaims(), sign)
      await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
    }
  })

  it('a signature of another key than the named one is refused', async () => {
    const jwt = await provider.sign({ kid: 'rsa', header: { kid: 'RS256' } })
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })

  it('a signature of a key that the JWT brings along is refused', async () => {
    const stranger = await startIdentityProvider()
    const jwk = await stranger.addKey('ES256')
    await stranger.stop()
    const header = { jwk, jku: stranger.jwksUrl }
    const jwt = await stranger.sign({ kid: 'ES256', header, claims: validClaims() })
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })

  it('a signature of another algorithm than the key is for is refused', async () => {
    const [, claims = '', signature = ''] = (await provider.sign({ kid: 'RS256' })).split('.')
    const header = Buffer.from('{"alg":"PS256","kid":"RS256"}').toString('base64url')
    const jwt = `${header}.${claims}.${signature}`
    await expect(verifier.verify(jwt)).rejects.toMatchObject(invalid)
  })

  it('is void when a character of the JWT is another (property)', async () => {
    const jwt = await provider.sign({ kid: 'ES256' })
    const change = fc.tuple(
      fc.nat(jwt.length - 2),
      fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '.'),
    )
    await fc.assert(
      fc.asyncProperty(change, async ([at, character]) => {
        const changed = jwt.slice(0, at) + character + jwt.slice(at + 1)
        fc.pre(changed !== jwt)
        // The last character of a part can stand for bits that are not used.
        fc.pre(jwt[at + 1] !== '.')
        await expect(verifier.verify(changed)).rejects.toMatchObject(invalid)
      }),
      { numRuns: 200 },
    )
  })

  it('is never accepted of what nobody signed, and no text is a fault of ours (property)', async () => {
    const part = fc.oneof(fc.base64String(), fc.json().map(encode), fc.object().map(encodeObject))
    const text = fc.array(part, { minLength: 3, maxLength: 3 }).map((parts) => parts.join('.'))
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        await expect(verifier.verify(text)).rejects.toMatchObject(invalid)
      }),
      { numRuns: 200 },
    )
  })
})

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function encodeObject(members: object): string {
  return encode(JSON.stringify({ alg: 'RS256', kid: 'rsa', ...members }))
}
