import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { settingNames } from '../../src/config/config.ts'
import type { EnvFile } from '../../src/config/env-files.ts'
import { unknownSettings } from '../../src/config/unknown-settings.ts'

const SETTINGS = settingNames()

function warningsOf(names: readonly string[], files: readonly EnvFile[] = []) {
  const environment = Object.fromEntries(names.map((name) => [name, 'value']))
  return unknownSettings({ environment, files, settings: SETTINGS })
}

const inFile = (...names: string[]) => warningsOf(names, [{ path: '.env', names }])

describe('a name that is no setting', () => {
  it.each([
    ['BASE_CAPACTY', 'BASE_CAPACITY'],
    ['BASE_CAPACIYT', 'BASE_CAPACITY'],
    ['base_capacity', 'BASE_CAPACITY'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['ADMIN_TOKN_FILE', 'ADMIN_TOKEN_FILE'],
    ['AWS_ACESS_KEY_ID', 'AWS_ACCESS_KEY_ID'],
    ['OTEL_TRACE_SAMPLER', 'OTEL_TRACES_SAMPLER'],
  ])('is told if it resembles one: %s', (name, meant) => {
    expect(warningsOf([name])).toEqual([`${name} is no setting: is ${meant} meant?`])
    expect(inFile(name)).toEqual([`${name} in .env is no setting: is ${meant} meant?`])
  })

  it('is told of a file of settings also if it resembles none', () => {
    expect(warningsOf(['COLOUR'])).toEqual([])
    expect(inFile('COLOUR', 'PORT', 'ADMIN_TOKEN_FILE')).toEqual(['COLOUR in .env is no setting'])
  })

  it.each([
    'PATH',
    'HOME',
    'POST',
    'HOSTS',
    'IMAGE_NAME',
    'WORKERS',
    'AWS_ENDPOINT_URL_STS',
    'OTEL_BLRP_SCHEDULE_DELAY',
    'PGPASSWORD',
    'CLOUD_REPOSITORY_SERVICE_PORT',
    'npm_config_cache',
  ])('is not told if another program reads it: %s', (name) => {
    expect(warningsOf([name])).toEqual([])
  })

  it.each(['AWS_PROFILE', 'OTEL_SERVICE_NAME', 'PGSSLMODE', 'NODE_EXTRA_CA_CERTS', 'COMPOSE_FILE'])(
    'is not told of a file if a library or Docker Compose reads it: %s',
    (name) => {
      expect(inFile(name)).toEqual([])
    },
  )

  it('is not told if docker-compose.yml reads it from the same file', async () => {
    const compose = await readFile('docker-compose.yml', 'utf8')
    const example = await readFile('.env.example', 'utf8')
    const names = [
      ...[...compose.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name),
      ...[...example.matchAll(/^#?([A-Z][A-Z\d_]*)=/gm)].map(([, name = '']) => name),
    ]
    expect(names).toEqual(expect.arrayContaining(['POSTGRES_PASSWORD', 'PORT']))
    expect(inFile(...names)).toEqual([])
  })
})
