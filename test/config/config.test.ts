import { WEBHOOK_EVENTS } from '../../src/core/webhooks/webhook-events.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, ConfigError, readConfig } from '../../src/config/config.ts'
import { MAX_BYTES } from '../../src/core/byte-size.ts'

/** The lines of the message about wrong settings, without its heading. */
function faults(environment: Record<string, string | undefined>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n  ').slice(1)
    throw error
  }
}

/** The names of the settings that are wrong. */
function faulty(environment: Record<string, string | undefined>): (string | undefined)[] {
  return faults(environment).map((fault) => fault.split(':')[0])
}

describe('readConfig', () => {
  it('has a default for everything', () => {
    const { settings: _, ...config } = readConfig({})
    expect(config).toEqual({
      host: '127.0.0.1',
      port: 3000,
      basePath: '',
      publicUrl: undefined,
      dataDir: resolve('data'),
      database: { kind: 'sqlite', file: resolve('data/database.sqlite') },
      objectStore: { kind: 'file', directory: resolve('data/objects') },
      backups: { directory: undefined, everyMs: 24 * 3_600_000, keep: 7 },
      baseCapacity: 2 ** 30,
      deviceCapacity: 5 * 2 ** 30,
      deviceModels: new Map(),
      deviceShare: 'all',
      maxFileSize: 5 * 2 ** 30,
      maxFiles: 100_000,
      eventLifetimeMs: 7 * 24 * 3_600_000,
      historyLifetimeMs: 30 * 24 * 3_600_000,
      historyShare: 50,
      maxLinkLifeMs: undefined,
      maxTokenLifeMs: undefined,
      garbageDelayMs: 600_000,
      dropMaxBytes: 2 ** 30,
      dropMaxFiles: 1000,
      maxUploads: 100,
      maxUnfinished: 100,
      lifetimeMs: 24 * 60 * 60_000,
      maxDownloadsPerUser: 100,
      maxDownloads: 1000,
      allowedOrigins: [],
      apiDocs: true,
      trustedProxies: [],
      webPage: true,
      brand: {
        name: undefined,
        logo: undefined,
        color: undefined,
        links: [],
        language: undefined,
      },
      minFreeSpace: 64 * 2 ** 20,
      uploadMemory: 256 * 2 ** 20,
      reusePort: false,
      jwt: undefined,
      webhooks: undefined,
      logLevel: 'info',
      logFormat: 'auto',
      traces: undefined,
      admin: undefined,
      metrics: undefined,
    })
  })

  it('takes an empty variable for one that is not set', () => {
    const names = ['HOST', 'PORT', 'DATABASE_URL', 'OBJECT_STORE', 'BASE_CAPACITY', 'DEVICE_MODELS']
    const empty = Object.fromEntries([...names, 'PORT_FILE', 'DATA_DIR'].map((name) => [name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  it('is not changed by those who use it', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true)
  })

  it('keeps database and objects in DATA_DIR unless they are put elsewhere', () => {
    const config = readConfig({ DATA_DIR: '/srv/cloud' })
    expect(config.database).toEqual({ kind: 'sqlite', file: '/srv/cloud/database.sqlite' })
    expect(config.objectStore).toEqual({ kind: 'file', directory: '/srv/cloud/objects' })
    const elsewhere = { DATABASE_URL: 'postgres://u:p@db/x', OBJECT_STORE: 'file:/mnt/objects' }
    expect(readConfig({ DATA_DIR: '/srv/cloud', ...elsewhere })).toMatchObject({
      database: { kind: 'postgres', url: 'postgres://u:p@db/x' },
      objectStore: { kind: 'file', directory: '/mnt/objects' },
    })
  })

  it('lists every fault at once, one a line, under a heading', () => {
    const wrong = {
      PORT: '65536',
      BASE_PATH: '/api/',
      DATABASE_URL: 'mysql://db',
      OBJECT_STORE: 's3://Bucket',
      BASE_CAPACITY: '5 apples',
      DEVICE_CAPACITY: '-1',
      DEVICE_MODELS: '[]',
      MAX_FILE_SIZE: '1e9',
      MAX_FILES: '1.5',
      ALLOWED_ORIGINS: 'https://app.example.com/',
      LOG_LEVEL: 'loud',
    }
    expect(new Set(faulty(wrong))).toEqual(new Set(Object.keys(wrong)))
    expect(faulty(wrong)).toHaveLength(Object.keys(wrong).length)
    expect(() => readConfig(wrong)).toThrow(/^Invalid settings:\n {2}\w+: /)
  })

  it('does not repeat the value of a secret in a fault', () => {
    const [fault] = faults({ DATABASE_URL: 'mysql://user:hunter2@db/x' })
    expect(fault).toMatch(/^DATABASE_URL: /)
    expect(fault).not.toContain('hunter2')
  })

  it('answers any environment with a config or a ConfigError (property)', () => {
    const names = ['PORT', 'BASE_PATH', 'DATABASE_URL', 'OBJECT_STORE', 'BASE_CAPACITY']
    const more = ['DEVICE_MODELS', 'MAX_FILES', 'ALLOWED_ORIGINS', 'TRUST_PROXY', 'LOG_LEVEL']
    const environment = fc.dictionary(fc.constantFrom(...names, ...more), fc.string())
    fc.assert(
      fc.property(environment, (environment) => {
        const wrong = faulty(environment)
        expect(Object.keys(environment)).toEqual(expect.arrayContaining(wrong))
      }),
    )
  })
})

describe('a setting', () => {
  it('is no S3 key that everyone knows, but for a server on this machine', () => {
    const s3 = { OBJECT_STORE: 's3://bucket' }
    const keys = { AWS_ACCESS_KEY_ID: 'minioadmin', AWS_SECRET_ACCESS_KEY: 'minioadmin' }
    const at = (endpoint: string) => ({ ...s3, ...keys, AWS_ENDPOINT_URL_S3: endpoint })
    for (const there of [
      'http://minio:9000',
      'http://10.0.0.1:9000',
      'http://127.0.0.1.evil:9000',
    ]) {
      expect(faulty(at(there))).toEqual(['AWS_SECRET_ACCESS_KEY'])
    }
    expect(faulty({ ...s3, ...keys })).toEqual(['AWS_SECRET_ACCESS_KEY'])
    for (const here of ['http://127.0.0.1:9000', 'http://[::1]:9000', 'http://localhost:9000']) {
      expect(faulty(at(here))).toEqual([])
    }
    const own = { ...at('http://minio:9000'), AWS_SECRET_ACCESS_KEY: 'made-up-by-us' }
    expect(faulty(own)).toEqual([])
  })

  it('UPLOAD_MEMORY has room for the parts in which the largest file is sent', () => {
    const s3 = { OBJECT_STORE: 's3://bucket', MAX_FILE_SIZE: '1TiB' }
    expect(faulty({ ...s3, UPLOAD_MEMORY: '256MiB' })).toEqual(['UPLOAD_MEMORY'])
    expect(faulty({ ...s3, UPLOAD_MEMORY: '1GiB' })).toEqual([])
    expect(faulty({ ...s3, OBJECT_STORE: '', UPLOAD_MEMORY: '16MiB' })).toEqual([])
  })

  it.each<[Record<string, string>, Partial<Config>]>([
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [{ HOST: '::1' }, { host: '::1' }],
    [{ METRICS_PORT: '9091' }, { metrics: { host: '127.0.0.1', port: 9091 } }],
    [{ METRICS_PORT: '0', METRICS_HOST: '::' }, { metrics: { host: '::', port: 0 } }],
    [{ METRICS_HOST: '::' }, { metrics: undefined }],
    [{ BASE_PATH: '/api/v1' }, { basePath: '/api/v1' }],
    [{ BASE_PATH: '/.a/b..c/...' }, { basePath: '/.a/b..c/...' }],
    [{ PUBLIC_URL: 'https://files.example.com' }, { publicUrl: 'https://files.example.com' }],
    [{ PUBLIC_URL: 'HTTP://Files.Example.com:80/' }, { publicUrl: 'http://files.example.com' }],
    [{ PUBLIC_URL: 'https://[::1]:8443/a/b/' }, { publicUrl: 'https://[::1]:8443/a/b' }],
    [{ MAX_FILES: '0' }, { maxFiles: 0 }],
    [{ UPLOAD_MEMORY: '64MiB' }, { uploadMemory: 64 * 2 ** 20 }],
    [{ GARBAGE_DELAY: '10min' }, { garbageDelayMs: 600_000 }],
    [{ GARBAGE_DELAY: '24 h' }, { garbageDelayMs: 86_400_000 }],
    [{ GARBAGE_DELAY: '7d' }, { garbageDelayMs: 604_800_000 }],
    [{ HISTORY_LIFETIME: '0' }, { historyLifetimeMs: 0 }],
    [{ HISTORY_LIFETIME: '1h' }, { historyLifetimeMs: 3_600_000 }],
    [{ MAX_LINK_LIFETIME: '0' }, { maxLinkLifeMs: undefined }],
    [{ MAX_LINK_LIFETIME: '1min' }, { maxLinkLifeMs: 60_000 }],
    [{ MAX_TOKEN_LIFETIME: '1min' }, { maxTokenLifeMs: 60_000 }],
    [{ DROP_MAX_BYTES: '0' }, { dropMaxBytes: 0 }],
    [{ DROP_MAX_FILES: '7' }, { dropMaxFiles: 7 }],
    [{ HISTORY_SHARE: '0' }, { historyShare: 0 }],
    [{ HISTORY_SHARE: '100' }, { historyShare: 100 }],
    [{ MAX_UPLOADS: '7' }, { maxUploads: 7 }],
    [{ MAX_DOWNLOADS_PER_USER: '7' }, { maxDownloadsPerUser: 7 }],
    [{ MAX_DOWNLOADS: '7' }, { maxDownloads: 7 }],
    [{ MAX_FILE_SIZE: '500MB' }, { maxFileSize: 500_000_000 }],
    [{ BASE_CAPACITY: '0' }, { baseCapacity: 0 }],
    [{ BASE_CAPACITY: String(MAX_BYTES) }, { baseCapacity: MAX_BYTES }],
    [{ DEVICE_CAPACITY: '1.5 GiB' }, { deviceCapacity: 1.5 * 2 ** 30 }],
    [
      { DATABASE_URL: 'postgresql://db/x' },
      { database: { kind: 'postgres', url: 'postgresql://db/x' } },
    ],
    [
      { DATABASE_URL: 'postgres://u:a,b@db/x?y=1,2' },
      { database: { kind: 'postgres', url: 'postgres://u:a,b@db/x?y=1,2' } },
    ],
    [{ TRUST_PROXY: '10.0.0.0/8, ::1,' }, { trustedProxies: ['10.0.0.0/8', '::1'] }],
    [{ TRUST_PROXY: ' , ,,' }, { trustedProxies: [] }],
    [
      { TRUST_PROXY: '0.0.0.0/0,::FFFF:a00:0/104' },
      { trustedProxies: ['0.0.0.0/0', '::FFFF:a00:0/104'] },
    ],
    [
      { ALLOWED_ORIGINS: 'https://a.example, http://b.example:8080' },
      { allowedOrigins: ['https://a.example', 'http://b.example:8080'] },
    ],
    [{ API_DOCS: 'false' }, { apiDocs: false }],
    [{ API_DOCS: '' }, { apiDocs: true }],
    [{ WEB_PAGE: 'false' }, { webPage: false }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
  ])('%j is read as %j', (environment, members) => {
    expect(readConfig(environment)).toMatchObject(members)
  })

  it.each([
    ['PORT', ['-1', '65536', '000080', '80.0', 'http', '0x50']],
    [
      'BASE_PATH',
      ['/', 'api', '/api/', '/a//b', '/a?b', '/a b', '/..', '/a/../b', '/./a', '/a/.', 'a/b'],
    ],
    [
      'PUBLIC_URL',
      [
        'files.example.com',
        '/files',
        'ftp://files.example.com',
        'https://files.example.com/?',
        'https://files.example.com/a?b=c',
        'https://files.example.com/a#b',
        'https://ann@files.example.com',
        'https://files.example.com//',
        'https://files.example.com/a//b',
        'https://files.example.com/a%20b',
        'https://files.example.com/a;b',
        'https://files.example.com/"',
      ],
    ],
    ['DATABASE_URL', ['sqlite:', 'postgres:db', 'database.sqlite']],
    ['DATABASE_URL', ['postgres://u:p@a:1,b:2/db', 'postgresql://a,b/db']],
    [
      'OBJECT_STORE',
      [
        'file:',
        's3:bucket',
        's3://',
        's3://ab',
        's3://a_b',
        's3://b/prefix',
        's3://b--use1-az4--x-s3',
        '/data',
      ],
    ],
    ['MAX_LINK_LIFETIME', ['30s', '1', '-1d', '3651d', 'never']],
    ['MAX_TOKEN_LIFETIME', ['30s', '1', '-1d', '3651d', 'never']],
    ['HISTORY_LIFETIME', ['59min', '1', '30', '-1d', '3651d', 'never']],
    ['HISTORY_SHARE', ['101', '-1', '1.5', '50%']],
    ['GARBAGE_DELAY', ['9min', '0', '600', '600s', '1.5h', '-1d', '3651d', 'h', '10m']],
    ['MAX_FILES', ['-1', '1e3', '9007199254740992', 'many']],
    ['UPLOAD_MEMORY', ['-1', 'much', '0', '1MiB']],
    ['MAX_UPLOADS', ['-1', '0', '1.5', 'many']],
    ['MAX_DOWNLOADS_PER_USER', ['-1', '0', '1.5', 'many']],
    ['MAX_DOWNLOADS', ['-1', '0', '1.5', 'many']],
    [
      'ALLOWED_ORIGINS',
      ['*', 'app.example.com', 'https://a.example/', 'https://a.example/x', 'null'],
    ],
    ['TRUST_PROXY', ['localhost', '10.0.0.0/33', '::1/129', '10.0.0.0/', '10.0.0.0/8/8']],
    ['TRUST_PROXY', ['10.0.0.0/08', '10.0.0.0/00', '10.0.0.0/-1', '10.0.0.0/8.0', '10.0.0/8']],
    [
      'TRUST_PROXY',
      ['/8', '10.0.0.0 /8', 'fe80::1%eth0', 'fe80::%eth0/64', '[::1]', '10.0.0.1:80'],
    ],
    ['API_DOCS', ['no', '0', 'TRUE']],
    ['WEB_PAGE', ['no', 'FALSE', '0']],
    ['LOG_LEVEL', ['INFO', 'verbose']],
    ['LOG_FORMAT', ['JSON', 'text']],
    ['BASE_CAPACITY', ['5PB', '-5', '0.5B']],
  ])('the setting %s refuses %j', (name, texts) => {
    expect(texts.filter((text) => faulty({ [name]: text })[0] !== name)).toEqual([])
  })
})

describe('the admin listener', () => {
  const token = 'sixteen-letters!'

  it('is on the loopback, and only there when there is a token', () => {
    expect(readConfig({ ADMIN_TOKEN: token }).admin).toEqual({
      host: '127.0.0.1',
      port: 3001,
      token,
    })
    expect(readConfig({ ADMIN_PORT: '4001', ADMIN_HOST: '::1' }).admin).toBeUndefined()
    const elsewhere = { ADMIN_TOKEN: token, ADMIN_PORT: '0', ADMIN_HOST: '::1' }
    expect(readConfig(elsewhere).admin).toEqual({ host: '::1', port: 0, token })
  })

  it.each(['fifteen-letters', 'sixteen letters!', 'sixteen-letters\t', 'sixteen-lätters!!'])(
    'has no token %j, and the fault does not repeat it',
    (text) => {
      const [fault = ''] = faults({ ADMIN_TOKEN: text })
      expect(fault).toMatch(/^ADMIN_TOKEN: must be at least 16 /)
      expect(fault).not.toContain(text)
    },
  )

  it('has its port checked without a token too', () => {
    expect(faulty({ ADMIN_PORT: '65536' })).toEqual(['ADMIN_PORT'])
  })
})

describe('DEVICE_SHARE', () => {
  it.each([
    ['all', 'all'],
    ['own', 'own'],
    ['0', 0],
    ['20GiB', 20 * 2 ** 30],
  ])('%s is a share', (text, deviceShare) => {
    expect(readConfig({ DEVICE_SHARE: text })).toMatchObject({ deviceShare })
  })

  it.each(['none', 'All', '-1', '1.5B', '"own"'])('%s is none', (text) => {
    expect(faults({ DEVICE_SHARE: text })).toEqual([
      `DEVICE_SHARE: "${text}" is not a share. Use all, own, or a size such as 20GiB.`,
    ])
  })
})

describe('DEVICE_MODELS', () => {
  it('is a JSON object from model to bytes or a size', () => {
    const text = '{"camera-2": "20GiB", "phone": 1000, "sensor": 0}'
    expect(readConfig({ DEVICE_MODELS: text }).deviceModels).toEqual(
      new Map([
        ['camera-2', 20 * 2 ** 30],
        ['phone', 1000],
        ['sensor', 0],
      ]),
    )
  })

  it('keeps a model apart that is named like a member of every object', () => {
    const text = '{"constructor": 5, "__proto__": 6}'
    const { deviceModels } = readConfig({ DEVICE_MODELS: text })
    expect([...deviceModels]).toEqual([
      ['constructor', 5],
      ['__proto__', 6],
    ])
  })

  it.each([
    '{',
    'camera=5',
    '[]',
    'null',
    '"20GiB"',
    '7',
    '{"a": -1}',
    '{"a": 0.5}',
    '{"a": true}',
    '{"a": "much"}',
    '{"a": null}',
    '{"a": {}}',
    '{"a": 9007199254740992}',
  ])('refuses %s', (text) => {
    expect(faulty({ DEVICE_MODELS: text })).toEqual(['DEVICE_MODELS'])
  })

  it('is refused with what to write, and where', () => {
    const [broken] = faults({ DEVICE_MODELS: '{"camera-2": "20GiB",}' })
    expect(broken).toMatch(/^DEVICE_MODELS: must be JSON, such as .* position 21/)
    const [wrong] = faults({ DEVICE_MODELS: '{"phone": 1, "camera-2": "much"}' })
    expect(wrong).toMatch(/^DEVICE_MODELS: "camera-2" must be /)
  })
})

describe('an S3 object store', () => {
  const s3 = { OBJECT_STORE: 's3://my-bucket' }
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

  it('is AWS in us-east-1 by default, with the credentials that the SDK finds', () => {
    expect(readConfig(s3).objectStore).toEqual({
      kind: 's3',
      bucket: 'my-bucket',
      region: 'us-east-1',
      endpoint: undefined,
      forcePathStyle: false,
      credentials: undefined,
      redirect: undefined,
    })
  })

  it('an S3 object store at an endpoint is addressed by path, unless that is switched off', () => {
    const endpoint = 'http://127.0.0.1:9000'
    const at = { ...s3, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: 'eu-1' }
    expect(readConfig(at).objectStore).toMatchObject({
      endpoint,
      region: 'eu-1',
      forcePathStyle: true,
    })
    const off = { ...at, S3_FORCE_PATH_STYLE: 'false' }
    expect(readConfig(off).objectStore).toMatchObject({ forcePathStyle: false })
  })

  it('prefers the endpoint for S3 to that for all of AWS', () => {
    const both = { ...s3, AWS_ENDPOINT_URL_S3: 'http://s3', AWS_ENDPOINT_URL: 'http://all' }
    expect(readConfig(both).objectStore).toMatchObject({ endpoint: 'http://s3' })
    const one = { ...s3, AWS_ENDPOINT_URL: 'http://all' }
    expect(readConfig(one).objectStore).toMatchObject({ endpoint: 'http://all' })
  })

  it('takes an access key, but leaves session credentials to the SDK', () => {
    expect(readConfig({ ...s3, ...keys }).objectStore).toMatchObject({
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    })
    const session = { ...s3, ...keys, AWS_SESSION_TOKEN: 'token' }
    expect(readConfig(session).objectStore).toMatchObject({ credentials: undefined })
  })

  it('sends downloads above a size itself, at the endpoint for clients', () => {
    const aws = { ...s3, DOWNLOAD_REDIRECT_ABOVE: '16MiB' }
    const aboveBytes = 16 * 2 ** 20
    expect(readConfig(aws).objectStore).toMatchObject({
      redirect: { aboveBytes, endpoint: undefined },
    })
    const own = { ...aws, AWS_ENDPOINT_URL_S3: 'http://minio:9000' }
    const endpoint = 'https://s3.example.com/'
    expect(readConfig({ ...own, S3_PUBLIC_ENDPOINT: endpoint }).objectStore).toMatchObject({
      redirect: { aboveBytes, endpoint },
    })
    const off = { ...s3, S3_PUBLIC_ENDPOINT: endpoint }
    expect(readConfig(off).objectStore).toMatchObject({ redirect: undefined })
    expect(faults(own)).toEqual([expect.stringMatching(/^S3_PUBLIC_ENDPOINT: is missing; /)])
  })

  it.each([
    [{ S3_PUBLIC_ENDPOINT: 'https://example.com/s3' }, 'S3_PUBLIC_ENDPOINT'],
    [{ S3_PUBLIC_ENDPOINT: 'https://ann:pw@example.com' }, 'S3_PUBLIC_ENDPOINT'],
    [{ S3_PUBLIC_ENDPOINT: 's3.example.com' }, 'S3_PUBLIC_ENDPOINT'],
    [{ DOWNLOAD_REDIRECT_ABOVE: 'large' }, 'DOWNLOAD_REDIRECT_ABOVE'],
    [{ DOWNLOAD_REDIRECT_ABOVE: '1', OBJECT_STORE: 'file:/srv' }, 'DOWNLOAD_REDIRECT_ABOVE'],
  ])('does not with %o', (settings, name) => {
    expect(faulty({ ...s3, ...settings })).toEqual([name])
  })

  it('refuses a path style that is neither true nor false', () => {
    expect(faulty({ ...s3, S3_FORCE_PATH_STYLE: 'yes' })).toEqual(['S3_FORCE_PATH_STYLE'])
  })

  it('takes a slash at the end of the bucket', () => {
    expect(readConfig({ OBJECT_STORE: 's3://my-bucket/' }).objectStore).toMatchObject({
      bucket: 'my-bucket',
    })
  })
})

describe('an identity provider', () => {
  const urls = { JWT_JWKS_URL: 'https://id.example/jwks', JWT_ISSUER: 'https://id.example' }
  const jwt = { ...urls, JWT_AUDIENCE: 'cloud' }

  it('is read from three settings, and makes no users unless it is told to', () => {
    const read = {
      jwksUrl: 'https://id.example/jwks',
      issuer: 'https://id.example',
      audience: 'cloud',
      userClaim: 'sub',
      scopeClaim: undefined,
    }
    expect(readConfig(jwt).jwt).toEqual({ ...read, createsUsers: false })
    const creating = { ...jwt, JWT_CREATE_USERS: 'true' }
    expect(readConfig(creating).jwt).toEqual({ ...read, createsUsers: true })
    expect(readConfig({ JWT_CREATE_USERS: 'false' }).jwt).toBeUndefined()
    const claims = { JWT_USER_CLAIM: 'email', JWT_SCOPE_CLAIM: 'repository' }
    const named = { userClaim: 'email', scopeClaim: 'repository' }
    expect(readConfig({ ...jwt, ...claims }).jwt).toMatchObject(named)
  })

  it.each(Object.keys(jwt))('an identity provider without %s is a fault that names it', (name) => {
    const [fault, ...others] = faults({ ...jwt, [name]: '' })
    expect(fault).toMatch(new RegExp(`^${name}: .*JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE`))
    expect(others).toEqual([])
  })

  it('an identity provider must be set for JWTs to create users', () => {
    expect(faulty({ JWT_CREATE_USERS: 'true' })).toEqual(Object.keys(jwt))
    expect(faulty({ JWT_CREATE_USERS: 'yes' })).toEqual(['JWT_CREATE_USERS'])
  })

  it.each(['id.example/jwks', 'ftp://id.example/jwks', 'file:///etc/jwks'])(
    'has keys under an http URL and not %s',
    (url) => {
      expect(faulty({ ...jwt, JWT_JWKS_URL: url })).toEqual(['JWT_JWKS_URL'])
    },
  )
})

describe('a setting in a file', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cloud-repository-config-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function file(content: string): Promise<string> {
    const path = join(folder, `secret-${content.length}`)
    await writeFile(path, content)
    return path
  }

  it('is its content without the line end', async () => {
    const path = await file('postgres://u:p@db/x\n')
    expect(readConfig({ DATABASE_URL_FILE: path }).database).toEqual({
      kind: 'postgres',
      url: 'postgres://u:p@db/x',
    })
  })

  it('wins over the variable', async () => {
    expect(readConfig({ PORT: '1', PORT_FILE: await file('8080') }).port).toBe(8080)
  })

  it('may be half of an access key', async () => {
    const config = readConfig({
      OBJECT_STORE: 's3://my-bucket',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY_FILE: await file('from the file\n'),
    })
    expect(config.objectStore).toMatchObject({ credentials: { secretAccessKey: 'from the file' } })
  })

  it('may be the token of the admin API', async () => {
    const config = readConfig({ ADMIN_TOKEN_FILE: await file('a-token-in-a-file\n') })
    expect(config.admin).toMatchObject({ token: 'a-token-in-a-file' })
  })

  it('a missing file of a setting is a fault beside the others', () => {
    const missing = { PORT_FILE: join(folder, 'missing'), MAX_FILES: 'many' }
    expect(faulty(missing)).toEqual(['PORT_FILE', 'MAX_FILES'])
  })

  it('a wrong value in a file is a fault of the setting', async () => {
    expect(faulty({ PORT_FILE: await file('http!') })).toEqual(['PORT'])
  })

  it('counts as unset when it is empty', async () => {
    const path = await file('\n')
    expect(readConfig({ PORT_FILE: path, HOST_FILE: path })).toEqual(readConfig({}))
  })
})

describe('webhooks', () => {
  const WEBHOOK_URL = 'https://back-end.example.com/hooks'
  const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`

  it('have a URL, one or more secrets, and all types of events or some', () => {
    const WEBHOOK_SECRET = `${secretOf(24)} ${secretOf(64)}`
    expect(readConfig({ WEBHOOK_URL, WEBHOOK_SECRET }).webhooks).toEqual({
      url: WEBHOOK_URL,
      secrets: [Buffer.alloc(24, 1), Buffer.alloc(64, 1)],
      events: new Set(WEBHOOK_EVENTS),
    })
    const WEBHOOK_EVENTS_SOME = 'file.deleted, user.purged'
    const some = readConfig({ WEBHOOK_URL, WEBHOOK_SECRET, WEBHOOK_EVENTS: WEBHOOK_EVENTS_SOME })
    expect(some.webhooks?.events).toEqual(new Set(['file.deleted', 'user.purged']))
  })

  it.each([
    [{ WEBHOOK_URL }, 'WEBHOOK_SECRET'],
    [{ WEBHOOK_SECRET: secretOf(32) }, 'WEBHOOK_URL'],
    [{ WEBHOOK_URL: 'ftp://a', WEBHOOK_SECRET: secretOf(32) }, 'WEBHOOK_URL'],
    [{ WEBHOOK_URL: 'https://ann:pw@a/', WEBHOOK_SECRET: secretOf(32) }, 'WEBHOOK_URL'],
    [{ WEBHOOK_URL, WEBHOOK_SECRET: secretOf(23) }, 'WEBHOOK_SECRET'],
    [{ WEBHOOK_URL, WEBHOOK_SECRET: secretOf(65) }, 'WEBHOOK_SECRET'],
    [{ WEBHOOK_URL, WEBHOOK_SECRET: 'whsec_not/base64!' }, 'WEBHOOK_SECRET'],
    [{ WEBHOOK_URL, WEBHOOK_SECRET: secretOf(32), WEBHOOK_EVENTS: 'file.made' }, 'WEBHOOK_EVENTS'],
  ])('%j are refused', (environment, name) => {
    expect(faulty(environment)).toEqual([name])
  })
})

describe('BACKUP_DIR', () => {
  it.each([
    [
      { DATABASE_URL: 'postgres://u:p@db/x' },
      'needs the embedded database; back up PostgreSQL with pg_dump',
    ],
    [{ OBJECT_STORE: 's3://bucket' }, 'needs local files; copy a bucket with mc mirror or rclone'],
    [{ BACKUP_DIR: '/srv/cloud/objects/backups' }, 'must not lie in the folder of the objects'],
    [{ BACKUP_DIR: 's3://bucket/backups' }, 'must be a folder'],
    [{ BACKUP_DIR: '/srv' }, 'must not contain the database and the objects'],
  ])('is refused with %o', (settings, fault) => {
    const environment = { DATA_DIR: '/srv/cloud', BACKUP_DIR: '/backups', ...settings }
    expect(() => readConfig(environment)).toThrow(`BACKUP_DIR: ${fault}`)
  })

  it('may lie in DATA_DIR, on the disk of a container', () => {
    const { backups } = readConfig({
      DATA_DIR: '/data',
      BACKUP_DIR: '/data/backups',
      BACKUP_EVERY: '6h',
    })
    expect(backups).toEqual({ directory: '/data/backups', everyMs: 6 * 3_600_000, keep: 7 })
  })

  it.each([
    ['BACKUP_EVERY', '10s'],
    ['BACKUP_EVERY', '367d'],
    ['BACKUP_KEEP', '0'],
    ['BACKUP_KEEP', '1001'],
  ])('has no such schedule: %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(`${name}: must be`)
  })
})
