import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const JWT = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' }

/** Each setting that names a URL which is requested or printed, with the others that it needs. */
const URLS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['PUBLIC_URL', {}],
  ['JWT_JWKS_URL', JWT],
  ['WEBHOOK_URL', { WEBHOOK_SECRET: SECRET }],
  ['AWS_ENDPOINT_URL_S3', { OBJECT_STORE: 's3://bucket' }],
  ['AWS_ENDPOINT_URL', { OBJECT_STORE: 's3://bucket' }],
  ['S3_PUBLIC_ENDPOINT', { OBJECT_STORE: 's3://bucket', DOWNLOAD_REDIRECT_ABOVE: '1GiB' }],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', {}],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', {}],
]

function refusal(environment: Readonly<Record<string, string>>): string {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe.each(URLS)('the URL %s', (name, others) => {
  it.each([
    'http://127.0.0.1:9000',
    'https://example.com',
    'https://example.com:443',
    'HTTPS://Example.com:8443',
    'http://[::1]:4318',
  ])('may be %s', (url) => {
    if (name === 'S3_PUBLIC_ENDPOINT' && url !== url.toLowerCase().replace(':443', '')) return
    expect(refusal({ ...others, [name]: url })).toBe('')
  })

  it.each([
    'https://hunter2@example.com',
    'https://:hunter2@example.com',
    'https://ann:hunter2@example.com:9000/path?query',
    'https://ann%3Ahunter2@example.com',
    'https://example.com/#hunter2',
    'https://example.com/path#',
    'https://ann:hunter2@@example.com',
    'https://ann:hunter2/@example.com',
    'ftp://ann:hunter2@example.com',
    'http:example.com/hunter2',
    'http:/example.com/hunter2',
    'http:///example.com/hunter2',
    'http://\\example.com/hunter2',
    'http://example.com:65536/hunter2',
    '//ann:hunter2@example.com',
    'http://example.com:25',
    'http://example.com:6000/hunter2',
    'https://[::1]:10080',
  ])('is not %s, and the refusal repeats none of it', (url) => {
    const message = refusal({ ...others, [name]: url })
    expect(message).toMatch(new RegExp(`^Invalid settings:\n  ${name}: must `))
    expect(message).not.toContain('hunter2')
  })
})

describe('a URL', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cloud-repository-urls-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('a URL in a file is held to the same rules', async () => {
    const path = join(folder, 'url')
    await writeFile(path, 'https://ann:hunter2@example.com\n')
    for (const [name, others] of URLS) {
      const message = refusal({ ...others, [`${name}_FILE`]: path })
      expect(message).toContain(`${name}: must `)
      expect(message).not.toContain('hunter2')
    }
  })

  it('is refused exactly for the ports that fetch blocks', async () => {
    const refused = Array.from({ length: 65_536 }, (_, port) => port).filter((port) =>
      refusal({ ...JWT, JWT_JWKS_URL: `http://127.0.0.1:${port}/` }).includes('another port'),
    )
    expect(refused).toHaveLength(82)
    for (const port of refused) {
      const blocked = fetch(`http://127.0.0.1:${port}/`)
      await expect(blocked).rejects.toMatchObject({ cause: { message: 'bad port' } })
    }
  })

  it('the URL of a page link has no password either', () => {
    const message = refusal({ PAGE_LINKS: '{"Help": "https://ann:hunter2@example.com"}' })
    expect(message).toContain('PAGE_LINKS: must have no user name and no password')
    expect(message).not.toContain('hunter2')
  })

  it('a URL among the allowed origins is not repeated if it is none', () => {
    const message = refusal({ ALLOWED_ORIGINS: 'https://ann:hunter2@example.com' })
    expect(message).toContain('ALLOWED_ORIGINS: must ')
    expect(message).not.toContain('hunter2')
  })
})

describe('DATABASE_URL', () => {
  it.each([
    'postgres://db/x',
    'postgres:///x?host=/var/run/postgresql',
    'postgres://u@/x?host=/run/pg',
    'postgres://u:p@%2Frun%2Fpostgresql/x',
    'postgresql://u:p%2F%3F%23%40@db.example.com:5433/x?sslmode=verify-full',
    'postgres://u:a@b:c@db/x',
    'postgres://u@[::1]:5432/x',
    'postgres://u:p@db',
    'postgres://u:p@db:/x',
    'postgres://u:p@db:1/x',
    'postgres://u:p@[::1]:65535/x?port=5432',
    'postgres:///x?host=/run/pg&port=5433',
  ])('may be %s', (url) => {
    expect(readConfig({ DATABASE_URL: url }).database).toEqual({ kind: 'postgres', url })
  })

  it.each([
    'postgres://u:hunter2/s@db/x',
    'postgres://u:hun@ter2/s@db/x',
    'postgres://u:12/hunter2@db/x',
    'postgres://u:hunter2?s@db/x',
    'postgres://u:h@hunter2?s@db/x',
    'postgres://u:hunter2#s@db/x',
    'postgres://u:12#hunter2@db/x',
    'postgres://u:h@12#hunter2',
    'postgres://u:hunter2/x',
    'postgres://u:p@db:hunter2/x',
    'postgres://u:p@db/x?password=hunter#2',
  ])('is not %s, and the refusal repeats none of it', (url) => {
    const message = refusal({ DATABASE_URL: url })
    expect(message).toMatch(/DATABASE_URL: is not a valid URL; percent-encode/)
    expect(message).not.toMatch(/hunter|ter2/)
  })

  it.each([
    'postgres://u:hunter2@db:65536/x',
    'postgres://u:hunter2@db:0/x',
    'postgres://u:hunter2@db:543210/x',
    'postgres://u:hunter2@[::1]:99999',
    'postgres://u:99999',
    'postgres://u:hunter2@db/x?port=65536',
    'postgres://u:hunter2@db:5432/x?sslmode=disable&port=abc',
    'postgres:///x?host=/run/pg&port=-1',
  ])('has no port as in %s', (url) => {
    const message = refusal({ DATABASE_URL: url })
    expect(message).toMatch(/DATABASE_URL: must have a port from 1 to 65535/)
    expect(message).not.toContain('hunter2')
  })

  it('has no second host in its options either', () => {
    expect(refusal({ DATABASE_URL: 'postgres:///x?host=a,b' })).toContain('must have one host')
  })

  it('has a port exactly if the driver can connect to it (property)', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,7}$/), fc.boolean(), (port, isOption) => {
        const place = isOption ? `db/x?port=${port}` : `db:${port}/x`
        const isRefused = refusal({ DATABASE_URL: `postgres://u:p@${place}` }) !== ''
        const isPort = Number(port) >= 1 && Number(port) <= 65_535 && port.length <= 5
        expect(isRefused).toBe(!isPort)
      }),
    )
  })

  it('gives the driver no part of a password as its host (property)', () => {
    const pieces = ['a', 'b1', ':', '/', '?', '#', '@', '%', '[', ']', '&', '=', '.', ' ']
    const password = fc.array(fc.constantFrom(...pieces), { maxLength: 6 })
    fc.assert(
      fc.property(password, (text) => {
        const url = `postgres://user:${text.join('')}@db.example.com/x`
        const isRefused = refusal({ DATABASE_URL: url }) !== ''
        expect(isRefused || ['db.example.com', undefined].includes(hostOf(url))).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** That the driver connects to; `undefined` if it refuses the URL, which it does not repeat. */
function hostOf(url: string): string | undefined {
  try {
    return new Client({ connectionString: url }).host
  } catch {
    return undefined
  }
}
