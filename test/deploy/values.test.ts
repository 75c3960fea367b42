import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { codesIn, rowsUnder } from '../documents/rows.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { CHART, type Json, render, type Values } from './chart.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

const SECRET = { name: 'files', key: 'secret' }
const REMOTE = { key: 'files' }
const POSTGRES = { database: { url: 'postgres://u@h/d' } }
const S3 = { objectStore: { bucket: 'files' } }

describe.skipIf(skipped)('the chart', () => {
  it.concurrent.each<[string, Values, RegExp]>([
    ['a value that it does not know', { replicas: 3 }, /'replicas' not allowed/],
    ['one within another', { image: { name: 'files' } }, /'name' not allowed/],
    ['no replica', { replicaCount: 0 }, /replicaCount/],
    ['a text for a number', { replicaCount: '3' }, /replicaCount/],
    ['several replicas on SQLite and files', { replicaCount: 2 }, /need PostgreSQL and S3/],
    ['several on SQLite', { replicaCount: 2, ...S3 }, /need PostgreSQL and S3/],
    ['several on files', { replicaCount: 2, ...POSTGRES }, /need PostgreSQL and S3/],
    ['an autoscaler of them', { autoscaling: { enabled: true } }, /need PostgreSQL and S3/],
    [
      'a volume that several pods share',
      { persistence: { accessModes: ['ReadWriteMany'] } },
      /access/,
    ],
    ['the tag latest', { image: { tag: 'latest' } }, /image\/tag/],
    ['a digest of another form', { image: { digest: 'sha256:1' } }, /image\/digest/],
    ['a setting that the service does not know', { config: { PORTS: 1 } }, /'PORTS' not allowed/],
    ['a setting that the chart sets', { config: { PORT: 80 } }, /'PORT' not allowed/],
    ['a secret as a setting', { config: { ADMIN_TOKEN: 'x' } }, /'ADMIN_TOKEN' not allowed/],
    ['a secret as a variable', { extraEnv: [{ name: 'ADMIN_TOKEN', value: 'x' }] }, /extraEnv/],
    ['a secret that is no setting', { secrets: { PASSWORD: SECRET } }, /'PASSWORD' not allowed/],
    ['a secret as a text', { secrets: { ADMIN_TOKEN: 'x' } }, /ADMIN_TOKEN.*got string/],
    ['a password in the URL', { database: { url: 'postgres://u:p@h/d' } }, /database\/url/],
    ['one that is all of the URL', { database: { url: 'postgres://u:p@/d' } }, /database\/url/],
    ['one in its query', { database: { url: 'postgres://h/d?password=p' } }, /database\/url/],
    ['keys in the endpoint', { objectStore: { endpoint: 'http://a:b@minio' } }, /endpoint/],
    [
      'a variable that the chart sets',
      { extraEnv: [{ name: 'METRICS_PORT', value: '1' }] },
      /METRICS_PORT, which the chart sets/,
    ],
    [
      'both secrets of a setting',
      {
        secrets: { ADMIN_TOKEN: SECRET },
        externalSecrets: { store: { name: 'vault' }, settings: { ADMIN_TOKEN: REMOTE } },
      },
      /ADMIN_TOKEN is in both/,
    ],
    [
      'both URLs of the database',
      { ...POSTGRES, secrets: { DATABASE_URL: SECRET } },
      /Both database.url and/,
    ],
    [
      'external secrets without a store',
      { externalSecrets: { settings: { ADMIN_TOKEN: REMOTE } } },
      /store\/name/,
    ],
    ['half of the keys', { secrets: { AWS_ACCESS_KEY_ID: SECRET } }, /AWS_SECRET_ACCESS_KEY/],
    ['an admin API without a token', { adminApi: { enabled: true } }, /needs ADMIN_TOKEN/],
    [
      'two sources of certificates',
      { caCertificates: { secret: 'a', configMap: 'b' } },
      /not both/,
    ],
    [
      'two logos',
      { pageLogo: { configMap: 'logo' }, config: { PAGE_LOGO: '/logo.svg' } },
      /pageLogo.configMap or config.PAGE_LOGO, not both/,
    ],
    [
      'a logo outside its folder',
      { pageLogo: { configMap: 'logo', key: '../a' } },
      /pageLogo\/key/,
    ],
    [
      'fewer replicas than at least',
      { ...POSTGRES, ...S3, autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 4 } },
      /must not exceed/,
    ],
    ['no time for proxies', { preStopSeconds: 0 }, /preStopSeconds/],
    ['an Ingress without a host', { ingress: { enabled: true } }, /ingress\/hosts/],
    ['a route without a gateway', { httpRoute: { enabled: true } }, /parentRefs/],
    ['a base path with a slash at its end', { basePath: '/api/' }, /basePath/],
    ['a name as a trusted proxy', { trustProxy: ['ingress'] }, /trustProxy/],
    [
      'a rule that lets everyone in by mistake',
      { networkPolicy: { from: { admin: [{}] } } },
      /networkPolicy\/from\/admin/,
    ],
    [
      'a monitor of no metrics',
      { metrics: { enabled: false, serviceMonitor: { enabled: true } } },
      /needs metrics.enabled/,
    ],
  ])('refuses %s', async (_case, values, reason) => {
    await expect(render({ values })).rejects.toThrow(reason)
  })

  it('may be part of another chart, which has global values', async () => {
    expect((await render({ values: { global: { region: 'eu' } } })).length).toBeGreaterThan(3)
  })
})

describe('the versions of Kubernetes', () => {
  it('are those of docs/kubernetes.md', async () => {
    const { kubeVersion } = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as {
      readonly kubeVersion: string
    }
    const page = await readFile('docs/kubernetes.md', 'utf8')
    expect(page).toContain(`Kubernetes ${/\d+\.\d+/.exec(kubeVersion)?.[0]} or newer`)
  })
})

describe('the tables of values in docs/kubernetes.md', () => {
  it('have every value with its default, and no other', async () => {
    const page = await readFile('docs/kubernetes.md', 'utf8')
    const rows = rowsUnder('## Values', page).flatMap(([names = '', defaults = '']) => {
      const values = defaults.split(/, (?=`|empty)/)
      return codesIn(names).map((name, at) => [name, values[at] ?? ''])
    })
    const values = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as Values
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(leavesOf(values)))
  })
})

/** Each value with its path and the text that documents its default. */
function leavesOf(values: Values, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const isLeaf = !isMap(value) || Object.keys(value).length === 0 || WHOLE.has(path + name)
    return isLeaf ? [[path + name, textOf(value)] as const] : leavesOf(value, `${path}${name}.`)
  })
}

/** Their members are not values of the chart. */
const WHOLE = new Set(['ingress.annotations', 'resources', 'networkPolicy.from'])

function isMap(value: Json): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A list is one of texts. */
function textOf(value: Json): string {
  if (isMap(value)) return Object.keys(value).length === 0 ? 'empty' : 'see `values.yaml`'
  const text = JSON.stringify(value)
    .replaceAll(/["[\]]/g, '')
    .replaceAll(',', ', ')
  return text === '' ? 'empty' : `\`${text}\``
}
