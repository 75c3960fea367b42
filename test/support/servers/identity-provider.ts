import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An identity provider on the loopback that publishes its keys and signs what a test wants. */
export interface IdentityProvider {
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: string
  /** How often its keys were asked for. */
  readonly requests: () => number
  /** Makes a key and publishes it beside those that are published. */
  addKey(kid: string, alg?: string): Promise<JWK>
  /** Stops publishing a key; it can still sign. */
  removeKey(kid: string): void
  /** A JWT of `sub` that is valid for a minute, signed by the key `kid`; claims and header members as given. */
  sign(token: Signed): Promise<string>
  /** Answers requests for the keys with `listener` until it is set to `undefined`. */
  answerWith(listener: RequestListener | undefined): void
  /** Closes the port; `start` opens it again. */
  stop(): Promise<void>
  start(): Promise<void>
}

export interface Signed {
  readonly kid: string
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
}

interface Key {
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys = new Map<string, Key>()
  const published = new Map<string, JWK>()
  let requests = 0
  let answer: RequestListener | undefined
  const publish: RequestListener = (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys: [...published.values()] }))
  }
  const listener: RequestListener = (request, response) => {
    requests += 1
    const handle = answer ?? publish
    handle(request, response)
  }
  let server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`

  return {
    issuer,
    audience: 'cloud-repository',
    jwksUrl: `${issuer}/jwks`,
    requests: () => requests,
    async addKey(kid, alg = 'ES256') {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
      const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
      keys.set(kid, { alg, privateKey, jwk })
      published.set(kid, jwk)
      return jwk
    },
    removeKey: (kid) => published.delete(kid),
    async sign({ kid, claims = {}, header = {} }) {
      const key = keys.get(kid)
      if (key === undefined) throw new Error(`There is no key ${kid}.`)
      const times = { exp: Math.floor(Date.now() / 1000) + 60 }
      const payload = { iss: issuer, aud: 'cloud-repository', sub: 'alice', ...times, ...claims }
      return await new SignJWT(payload)
        .setProtectedHeader({ alg: key.alg, kid, ...header })
        .sign(key.privateKey)
    },
    answerWith: (listener) => {
      answer = listener
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
    async start() {
      server = createServer(listener).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
