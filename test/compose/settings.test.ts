import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { settingNames } from '../../src/config/config.ts'
import { allOf } from '../documents/pages.ts'

const compose = await readFile('docker-compose.yml', 'utf8')

it('every setting of the service reaches its container', () => {
  const { services } = parse(compose, { merge: true }) as Compose
  const given = Object.keys(services.service.environment)
  const missing = [...settingNames()].filter((name) => !given.includes(name))
  expect(missing.toSorted()).toEqual(Object.keys(LEFT_OUT).toSorted())
})

it('every line of .env.example reaches a container', async () => {
  const names = allOf(/^#?([A-Z][A-Z\d_]*)=/gm, await readFile('.env.example', 'utf8'))
  expect(names).toContain('POSTGRES_PASSWORD')
  const isPassed = (name: string): boolean =>
    new RegExp(`\\b${name}(:$|:? |[-:}])`, 'm').test(compose)
  expect(names.filter((name) => !isPassed(name) && !(name in LEFT_OUT))).toEqual([])
})

/** Why a setting does not reach the container. */
const LEFT_OUT = {
  AWS_ENDPOINT_URL: 'the file itself sets AWS_ENDPOINT_URL_S3, which is preferred',
  AWS_SESSION_TOKEN: 'the keys are those of the MinIO here; a token in the shell belongs to others',
  BACKUP_DIR: 'they are for the embedded default',
  BACKUP_EVERY: 'as BACKUP_DIR',
  BACKUP_KEEP: 'as BACKUP_DIR',
  DATA_DIR: 'the image sets it',
  HOST: 'the image sets it',
  PORT: 'the image sets it, and SERVICE_PORTS publishes it',
  REUSE_PORT: 'a container has one instance',
}

interface Compose {
  readonly services: { readonly service: { readonly environment: object } }
}
