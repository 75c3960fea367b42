import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { startProgram, type Started } from '../support/service/program.ts'

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
    const service = await start(['serve'], opened)
    await expect.poll(service.output, { timeout: 20_000 }).toContain('listens at')
    service.process.kill('SIGTERM')
    const packages = await loadedBy(service)
    expect(packages).toContain('fastify')
    expect(packages.filter((name) => ELSEWHERE.has(name))).toEqual([])
  })

  it('loads nothing to show its help', async () => {
    await using opened = new AsyncDisposableStack()
    expect(await loadedBy(await start(['--help'], opened))).toEqual([])
  })
})

const environment = { NODE_OPTIONS: '--import=./test/support/loaded-packages.mjs' }

const start = (args: readonly string[], opened: AsyncDisposableStack): Promise<Started> =>
  startProgram({ args, environment, opened })

/** The packages that the program names at its end. */
async function loadedBy({ process, output }: Started): Promise<readonly string[]> {
  await once(process, 'close')
  return JSON.parse(output().split('\n').at(-2) ?? '') as readonly string[]
}
