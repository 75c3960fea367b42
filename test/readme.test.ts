import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { startProgram } from './support/program.ts'

const run = promisify(execFile)

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe("README's session with the admin API", () => {
  it('does what it says, against a service that runs', async () => {
    const ADMIN_TOKEN = 'the-token-of-this-test'
    const environment = { BASE_CAPACITY: '0', ADMIN_PORT: '0', ADMIN_TOKEN }
    const { output } = await startProgram({ args: ['serve'], environment, opened })
    await expect.poll(output, { timeout: 20_000 }).toMatch(/admin API listens at /)
    const urls = {
      URL: addressIn(output(), 'the API'),
      ADMIN_URL: addressIn(output(), 'the admin'),
    }
    const env = { PATH: process.env['PATH'], ADMIN_TOKEN, ...urls }
    const { stdout, stderr } = await run(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', await session()],
      { env },
    )
    expect(stderr).toBe('')
    const [account, phone, camera, capacity, full, left, refused, size, shrunk, fits] = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => (line === '' ? undefined : JSON.parse(line)))
    expect(account).toMatchObject({ user_id: 'alice', capacity: { capacity: 0 } })
    expect([phone, camera]).toMatchObject([{ bytes: 1000 }, { bytes: 2000 }])
    expect(capacity).toMatchObject({ capacity: 3000, available: 3000, state: 'normal' })
    expect(full).toMatchObject({ size: 3000, capacity: { available: 0 } })
    expect(left).toBeUndefined()
    expect(refused).toMatchObject({ code: 'capacity_exceeded', capacity: 1000, used: 3000 })
    expect(size).toBe(3000)
    expect(shrunk).toMatchObject({ name: 'movie', size: 900, replaced: true })
    expect(fits).toMatchObject({ name: 'note', size: 100, capacity: { available: 0 } })
  })
})

/** The only fenced block of the shell in README.md. */
async function session(): Promise<string> {
  const readme = await readFile('README.md', 'utf8')
  const blocks = [...readme.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, text = '']) => text)
  expect(blocks).toHaveLength(1)
  return blocks.join('')
}

function addressIn(log: string, listener: string): string {
  const [, address = ''] =
    new RegExp(`${listener}[a-zA-Z ]* listens at (http:[^"]+)`).exec(log) ?? []
  return address
}
