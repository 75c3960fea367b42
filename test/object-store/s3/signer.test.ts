import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { payloadSha256, S3Signer } from '../../../src/object-store/s3/signer.ts'

const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfi' }

/** SHA-256 and its HMAC, as the SDK's signer wants them. */
class Sha256 {
  readonly #hash
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', keyOf(secret))
  }
  update(content: Uint8Array | string): void {
    this.#hash.update(content)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

function keyOf(secret: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof secret === 'string') return Buffer.from(secret)
  if (secret instanceof ArrayBuffer) return Buffer.from(secret)
  return Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength)
}

const texts = fc.string({ unit: 'grapheme', maxLength: 20 })
const headerTexts = fc
  .stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/)
  .map((text) => text.replaceAll(/ +/g, ' '))
const requests = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'PUT'),
  path: fc.stringMatching(/^\/bucket\/users\/[A-Za-z0-9_-]{1,64}\/[0-9a-f-]{36}$/),
  query: fc.dictionary(fc.stringMatching(/^[a-zA-Z-]{1,12}$/), texts, { maxKeys: 3 }),
  meta: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), headerTexts, { maxKeys: 3 }),
  payload: fc.uint8Array({ maxLength: 100 }),
  now: fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2100, 0) }),
  sessionToken: fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{1,100}$/), { nil: undefined }),
})

const DIGEST: Set<string> = new Set(['x-amz-content-sha256'])

function oracleOf(sessionToken: string | undefined): SignatureV4 {
  return new SignatureV4({
    service: 's3',
    region: 'eu-central-1',
    sha256: Sha256,
    uriEscapePath: false,
    credentials: { ...CREDENTIALS, ...(sessionToken !== undefined && { sessionToken }) },
  })
}

describe('the signature of a request to S3', () => {
  it("is that of the SDK's signer, whatever is signed (property)", async () => {
    const signer = new S3Signer('eu-central-1')
    await fc.assert(
      fc.asyncProperty(
        requests,
        async ({ method, path, query, meta, payload, now, sessionToken }) => {
          const credentials = { ...CREDENTIALS, sessionToken }
          const metadata = Object.entries(meta).map(([name, text]) => [`x-amz-meta-${name}`, text])
          const headers = {
            host: 'minio:9000',
            ...(Object.fromEntries(metadata) as Record<string, string>),
          }
          const digest = payloadSha256([payload])
          const request = { method, path, query, headers, payloadSha256: digest }
          const signed = signer.sign(request, { credentials, now })

          const expected = await oracleOf(sessionToken).sign(
            {
              method,
              path,
              query,
              protocol: 'http:',
              hostname: 'minio',
              headers: { ...headers, 'x-amz-content-sha256': digest },
            },
            { signingDate: new Date(now) },
          )
          expect(signed).toEqual(expected.headers)
        },
      ),
    )
  })

  it("is that of the SDK's signer in a URL too (property)", async () => {
    const signer = new S3Signer('eu-central-1')
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, query, now, sessionToken }) => {
        const credentials = { ...CREDENTIALS, sessionToken }
        const headers = { host: 'minio:9000' }
        const request = { method: 'GET', path, query, headers, payloadSha256: 'UNSIGNED-PAYLOAD' }
        const signed = signer.presign(request, { credentials, now, lifeS: 60 })
        const expected = await oracleOf(sessionToken).presign(
          {
            method: 'GET',
            path,
            query,
            protocol: 'http:',
            hostname: 'minio',
            // Tells the SDK which digest to sign.
            headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
          },
          {
            signingDate: new Date(now),
            expiresIn: 60,
            unsignableHeaders: DIGEST,
            unhoistableHeaders: DIGEST,
          },
        )
        expect(signed).toEqual(expected.query)
      }),
    )
  })

  it('changes with the day and with the secret', () => {
    const signer = new S3Signer('us-east-1')
    const request = {
      method: 'GET',
      path: '/b/k',
      query: {},
      headers: { host: 'h' },
      payloadSha256: payloadSha256([]),
    }
    const now = Date.UTC(2026, 0, 1)
    const first = signer.sign(request, { credentials: CREDENTIALS, now })
    const nextDay = signer.sign(request, { credentials: CREDENTIALS, now: now + 86_400_000 })
    const rotated = { ...CREDENTIALS, secretAccessKey: 'another' }
    const others = [nextDay, signer.sign(request, { credentials: rotated, now })]
    const again = signer.sign(request, { credentials: CREDENTIALS, now })
    expect(again).toEqual(first)
    expect(others.map((it) => it['authorization'])).not.toContain(first['authorization'])
  })
})
