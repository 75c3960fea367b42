import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Config, readConfig, settingNames } from '../../src/config/config.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { CHART, only, render, type Release, type Resource } from './chart.ts'
import { EVERYTHING } from './variants.ts'
import { type Container, type PodSpec, plainVariables, workloadOf } from './workload.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe.skipIf(skipped)('the settings in the values', () => {
  it('are all settings of the service, and no others', async () => {
    const { config, secrets, externalSecrets } = (await readSchema()).properties
    const [plain, secret] = [config, secrets].map(({ properties }) => Object.keys(properties))
    expect(Object.keys(externalSecrets.properties['settings']?.properties ?? {})).toEqual(secret)
    const everything = await render({
      examples: ['cloudnativepg', 's3', 'minio'],
      values: EVERYTHING,
    })
    const embedded = await render({})
    const own = [everything, embedded].flatMap((resources) =>
      containerOf(resources).env.map(({ name }) => name.replace(/_FILE$/, '')),
    )
    const given = new Set([...(plain ?? []), ...(secret ?? []), ...own])
    const read = [...settingNames()]
    expect(read.filter((name) => !given.has(name) && !(name in LEFT_OUT))).toEqual([])
    const others = [...given].filter((name) => !read.includes(name) && !OF_LIBRARIES.has(name))
    expect(others).toEqual([])
    expect(Object.keys(LEFT_OUT).filter((name) => given.has(name))).toEqual([])
  })

  it('reach the service, as the container gets them', async () => {
    const values = { ...EVERYTHING, database: { url: '' } }
    const config = await configOf({ examples: ['cloudnativepg', 'minio'], values }, SECRETS)
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 3000,
      basePath: '/api',
      trustedProxies: ['10.0.0.0/8', '::1'],
      database: { kind: 'postgres', url: SECRETS.DATABASE_URL },
      objectStore: {
        kind: 's3',
        bucket: 'cloud-repository',
        endpoint: 'http://minio.minio.svc:9000',
        credentials: {
          accessKeyId: SECRETS.AWS_ACCESS_KEY_ID,
          secretAccessKey: SECRETS.AWS_SECRET_ACCESS_KEY,
        },
      },
      // YAML's numbers are floating point, and this one would be written with an exponent.
      maxFiles: 1_073_741_824,
      webPage: false,
      deviceModels: new Map([['camera-2', 20 * 2 ** 30]]),
      admin: { host: '0.0.0.0', port: 3001, token: SECRETS.ADMIN_TOKEN },
      metrics: { host: '0.0.0.0', port: 9091 },
      webhooks: { url: 'https://back-end.example/hooks' },
      brand: { logo: { format: 'svg' } },
      traces: undefined,
    })
    expect(config.webhooks?.secrets).toHaveLength(1)
  })

  it('are the defaults of the service unless they are given', async () => {
    const read = await configOf({}, {})
    const { host, dataDir, database, objectStore, metrics, settings: _, ...others } = read
    expect(host).toBe('0.0.0.0')
    expect(metrics).toEqual({ host: '0.0.0.0', port: 9091 })
    expect([database, objectStore]).toEqual([
      { kind: 'sqlite', file: join(dataDir, 'database.sqlite') },
      { kind: 'file', directory: join(dataDir, 'objects') },
    ])
    // Below the volume, whose own permissions the service would otherwise change.
    expect(dataDir).toBe('/data/repository')
    const defaults = readConfig({})
    for (const [name, value] of Object.entries(others)) {
      expect({ name, value }).toEqual({ name, value: defaults[name as keyof Config] })
    }
  })

  it('leave enough memory for what the service may use by default', async () => {
    const { uploadMemory, maxUploads, maxDownloads } = readConfig({})
    const [, limit = ''] =
      /^(\d+)Mi$/.exec(containerOf(await render({})).resources.limits['memory'] ?? '') ?? []
    // The formula in docs/configuration.md, "Memory", with 1,000 connections.
    const MIB = 2 ** 20
    const needed =
      200e6 + 2 * uploadMemory + maxUploads * MIB + maxDownloads * (MIB / 4) + 1000 * 160 * 1024
    expect(Number(limit) * MIB).toBeGreaterThan(needed)
  })
})

/** Why a setting of the service cannot be given. */
const LEFT_OUT = {
  AWS_SESSION_TOKEN: 'temporary credentials come with the service account',
  REUSE_PORT: 'a pod has one instance',
}

/** Variables that libraries read, or the chart needs. */
const OF_LIBRARIES = new Set([
  'AWS_ROLE_SESSION_NAME',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
  'PGPASSWORD',
])

const SECRETS = {
  DATABASE_URL: 'postgresql://app:a-password@files-rw.apps:5432/app',
  AWS_ACCESS_KEY_ID: 'an-access-key',
  AWS_SECRET_ACCESS_KEY: 'its-secret',
  ADMIN_TOKEN: 'a-token-of-the-operator',
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=collector',
}

/** What the service reads in the container of a release, with these values in its Secrets, and a logo. */
async function configOf(
  release: Release,
  secrets: Readonly<Record<string, string>>,
): Promise<Config> {
  const { containers, volumes } = podOf(await render(release))
  const folder = await temporaryFolder(opened)
  for (const { name, mountPath } of containers[0].volumeMounts) {
    const { projected, configMap } = volumes.find((volume) => volume.name === name) ?? {}
    const items = projected?.sources.flatMap(({ secret }) => secret.items) ?? configMap?.items ?? []
    await mkdir(join(folder, mountPath), { recursive: true })
    for (const { path } of items) {
      await writeFile(join(folder, mountPath, path), `${secrets[path] ?? LOGO}\n`)
    }
  }
  const variables = Object.entries(plainVariables(containers[0]))
  const isMounted = (value: string): boolean => value.startsWith('/run/')
  return readConfig(
    Object.fromEntries(
      variables.map(([name, value]) => [name, isMounted(value) ? join(folder, value) : value]),
    ),
  )
}

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"/>'

function podOf(resources: readonly Resource[]): PodSpec {
  return workloadOf(only('Deployment', resources)).template.spec
}

function containerOf(resources: readonly Resource[]): Container {
  return podOf(resources).containers[0]
}

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>
}

async function readSchema() {
  const text = await readFile(join(CHART, 'values.schema.json'), 'utf8')
  return JSON.parse(text) as {
    readonly properties: Readonly<Record<'config' | 'secrets' | 'externalSecrets', Schema>>
  }
}
