import { describe, expect, it } from 'vitest'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { render, type Values } from './chart.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))

const SECRET = { name: 'files', key: 'secret' }
const REMOTE = { key: 'files' }
const POSTGRES = { database: { url: 'postgres://u@h/d' } }
const S3 = { objectStore: { bucket: 'files' } }

describe.skipIf(skipped)('the chart', () => {
  it.concurrent.each<[string, Values, RegExp]>([
    ['a value that it does not know', { replicas: 3 }, /'replicas' not allowed/],
    ['several replicas on SQLite and files', { replicaCount: 2 }, /need PostgreSQL and S3/],
    ['several on SQLite', { replicaCount: 2, ...S3 }, /need PostgreSQL and S3/],
    ['several on files', { replicaCount: 2, ...POSTGRES }, /need PostgreSQL and S3/],
    ['an autoscaler of them', { autoscaling: { enabled: true } }, /need PostgreSQL and S3/],
    [
      'a volume that several pods share',
      { persistence: { accessModes: ['ReadWriteMany'] } },
      /access/,
    ],
    ['a secret as a setting', { config: { ADMIN_TOKEN: 'x' } }, /'ADMIN_TOKEN' not allowed/],
    ['a secret as a variable', { extraEnv: [{ name: 'ADMIN_TOKEN', value: 'x' }] }, /extraEnv/],
    ['a secret as a text', { secrets: { ADMIN_TOKEN: 'x' } }, /ADMIN_TOKEN.*got string/],
    ['a password in the URL', { database: { url: 'postgres://u:p@h/d' } }, /database\/url/],
    ['one that is all of the URL', { database: { url: 'postgres://u:p@/d' } }, /database\/url/],
    ['one in its query', { database: { url: 'postgres://h/d?password=p' } }, /database\/url/],
    ['half of the keys', { secrets: { AWS_ACCESS_KEY_ID: SECRET } }, /AWS_SECRET_ACCESS_KEY/],
    ['keys in the endpoint', { objectStore: { endpoint: 'http://a:b@minio' } }, /endpoint/],
    [
      'both secrets of a setting',
      {
        secrets: { ADMIN_TOKEN: SECRET },
        externalSecrets: { store: { name: 'vault' }, settings: { ADMIN_TOKEN: REMOTE } },
      },
      /ADMIN_TOKEN is in both/,
    ],
    ['an admin API without a token', { adminApi: { enabled: true } }, /needs ADMIN_TOKEN/],
    [
      'a rule that lets everyone in by mistake',
      { networkPolicy: { from: { admin: [{}] } } },
      /networkPolicy\/from\/admin/,
    ],
  ])('refuses %s', async (_case, values, reason) => {
    await expect(render({ values })).rejects.toThrow(reason)
  })
})
