import { expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import type { EnvFile } from '../../src/config/env-files.ts'
import { settingWarnings } from '../../src/config/warnings.ts'

const ENDPOINT = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000' }

interface Other {
  readonly maxDescriptors?: number
  readonly files?: readonly EnvFile[]
}

function warningsOf(environment: Record<string, string>, other: Other = {}) {
  const { maxDescriptors = Infinity, files = [] } = other
  return settingWarnings({ environment, files, config: readConfig(environment), maxDescriptors })
}

it.each([
  ['trial secrets', { PGPASSWORD: 'trial-secret' }, 'trial secrets'],
  ['an endpoint of S3 that local files do not use', ENDPOINT, 'AWS_ENDPOINT_URL_S3 is set'],
  ['workers, of which there are none', { WORKERS: '4' }, 'WORKERS has no effect'],
])('%s cause a warning, which repeats no secret', (_what, environment, warning) => {
  expect(warningsOf(environment)).toEqual([expect.stringContaining(warning)])
  expect(warningsOf(environment).join()).not.toContain('trial-secret')
})

it('the defaults cause none', () => {
  expect(warningsOf({})).toEqual([])
})

it('too few file descriptors cause one', () => {
  expect(warningsOf({}, { maxDescriptors: 1023 })).toEqual([
    expect.stringContaining('only 1023 files'),
  ])
  expect(warningsOf({}, { maxDescriptors: 1024 })).toEqual([])
})
