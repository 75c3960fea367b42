import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { startProgram } from '../support/service/program.ts'

/** Each takes some of the time to start and of idle memory from those who have no use for it. */
const ELSEWHERE = new Set([
  '@aws-sdk/client-s3',
  'undici',
  'pg',
  'jose',
  'typebox',
  '@opentelemetry/core',
])

describe('the embedded default', () => {
  it('loads no package that is for something else', async () => {
    await using opened = new AsyncDisposableStack()
    const environment = { NODE_OPTIONS: '--import=./test/support/loaded-packages.mjs' }
    const program = await startProgram({ args: ['users', 'list'], environment, opened })
    await once(program.process, 'close')
    const packages = JSON.parse(program.output().split('\n').at(-2) ?? '') as readonly string[]
    expect(packages).toContain('fastify')
    expect(packages.filter((name) => ELSEWHERE.has(name))).toEqual([])
  })
})
