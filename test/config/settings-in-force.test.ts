import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Config, ConfigError, readConfig, settingNames } from '../../src/config/config.ts'
import { createReader } from '../../src/config/reader.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { FULL } from './full-settings.ts'

const CANARY = 'canary-of-all-secrets'

describe('the settings that operators see', () => {
  const names = [...settingNames()]

  it.each(names.filter((name) => !OPEN_TEXTS.has(name)))('show no secret of %s', (name) => {
    for (const shown of everyShown(name)) {
      expect(shown.find((setting) => setting.name === name)).toMatchObject({ isSet: true })
      expect(JSON.stringify(shown)).not.toContain(CANARY)
    }
  })

  it.each(names.filter((name) => OPEN_TEXTS.has(name)))('show %s as it is written', (name) => {
    const value = 'any text'
    expect(valueOf(name, { ...FULL, [name]: value })).toEqual({ isSet: true, value })
  })

  it('call these secret', () => {
    const secrets = shownOf(FULL)?.filter(({ isSecret }) => isSecret)
    expect(secrets?.map(({ name }) => name).toSorted()).toEqual([
      'ADMIN_TOKEN',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
      'WEBHOOK_SECRET',
    ])
    expect(secrets?.every(({ value }) => value === undefined)).toBe(true)
  })

  it('take each one for a secret unless its line says that it is shown', () => {
    const { setting, optional, inForce } = createReader({ KEY: CANARY, OTHER: CANARY })
    expect([setting('KEY', CANARY, String), optional('OTHER')]).toEqual([CANARY, CANARY])
    const secret = { isSecret: true, isSet: true, value: undefined }
    expect(inForce()).toEqual([
      { name: 'KEY', ...secret },
      { name: 'OTHER', ...secret },
    ])
  })

  it.each([
    [
      'postgres://canary-of-all-secrets:canary-of-all-secrets@db.example:5433/files?password=canary-of-all-secrets',
      'postgres://db.example:5433/files',
    ],
    ['postgres:///files?host=/run/canary-of-all-secrets', 'postgres:///files'],
    ['sqlite:/data/files.sqlite', 'sqlite:/data/files.sqlite'],
  ])('show where the database is, of %s', (DATABASE_URL, value) => {
    expect(valueOf('DATABASE_URL', { DATABASE_URL })).toEqual({ isSet: true, value })
  })

  it('show a URL without its path and query', () => {
    const at = (WEBHOOK_URL: string) => valueOf('WEBHOOK_URL', { ...FULL, WEBHOOK_URL })
    expect(at('https://hooks.example:8443')).toMatchObject({ value: 'https://hooks.example:8443' })
    expect(at('https://hooks.example/T1/B2')).toMatchObject({ value: 'https://hooks.example/...' })
    expect(at('https://hooks.example/?key=1')).toMatchObject({ value: 'https://hooks.example/...' })
  })

  it('show the default of what is not set, and what a file says', async () => {
    const folder = await createFolder('settings')
    onTestFinished(() => folder.remove())
    const path = join(folder.path, 'value')
    await writeFile(path, '2GiB\n')
    expect(valueOf('BASE_CAPACITY', { BASE_CAPACITY_FILE: path })).toEqual({
      isSet: true,
      value: '2GiB',
    })
    expect(valueOf('DEVICE_CAPACITY', { DEVICE_CAPACITY: '' })).toEqual({
      isSet: false,
      value: '5GiB',
    })
    await writeFile(path, `${CANARY}\n`)
    expect(valueOf('ADMIN_TOKEN', { ADMIN_TOKEN_FILE: path })).toEqual({
      isSet: true,
      value: undefined,
    })
  })

  it('are those that count: without S3, none of its keys', () => {
    const names = shownOf({ AWS_SECRET_ACCESS_KEY: CANARY })?.map(({ name }) => name)
    expect(names).toContain('OBJECT_STORE')
    expect(names).not.toContain('AWS_SECRET_ACCESS_KEY')
  })
})

/** They take any text. Think twice before you add one. */
const OPEN_TEXTS = new Set([
  'ADMIN_HOST',
  'AWS_REGION',
  'DATA_DIR',
  'HOST',
  'JWT_AUDIENCE',
  'JWT_ISSUER',
  'JWT_SCOPE_CLAIM',
  'JWT_USER_CLAIM',
  'METRICS_HOST',
  'PAGE_NAME',
])

/** With a secret wherever a URL has room for one. */
const URLS = [
  `https://host.example/${CANARY}?key=${CANARY}`,
  `https://host.example/?key=${CANARY}`,
  `postgres://${CANARY}:${CANARY}@db.example/files?password=${CANARY}`,
  `key=${CANARY}`,
  `whsec_${Buffer.from(CANARY.repeat(2)).toString('base64')}`,
]

/** What is shown of the secret as this setting, however the setting takes it. */
function everyShown(name: string): readonly Config['settings'][] {
  return [CANARY, ...URLS]
    .map((value) => shownOf({ ...FULL, [name]: value }))
    .filter((shown) => shown !== undefined)
}

/** `undefined` if the settings are refused. */
function shownOf(environment: Record<string, string>): Config['settings'] | undefined {
  try {
    return readConfig(environment).settings
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

function valueOf(name: string, environment: Record<string, string>) {
  const found = shownOf(environment)?.find((setting) => setting.name === name)
  return { isSet: found?.isSet, value: found?.value }
}
