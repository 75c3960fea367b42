import { request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type Demo, startDemo } from '../support/service/demo.ts'
import { freePort } from '../support/servers/local-server.ts'
import { exitOf, startProgram } from '../support/service/program.ts'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

const CONNECTIONS = 64

test.skipIf(process.platform !== 'linux')(
  'G08 instances with REUSE_PORT share a port; when one is killed or stops, the other continues',
  async () => {
    const PORT = String(await freePort())
    const url = `http://127.0.0.1:${PORT}/users/alice/repo/missing`
    const start = () => startDemo({ environment: { PORT, REUSE_PORT: 'true' }, opened })
    const [first, second] = [await start(), await start()]
    for (let asked = 0; asked < CONNECTIONS; asked++) expect(await statusOf(url)).toBe(404)
    for (const instance of [first, second])
      await expect.poll(() => requestsOf(instance)).toBeGreaterThan(0)
    first.process.kill('SIGKILL')
    await exitOf(first.process)
    for (let asked = 0; asked < CONNECTIONS; asked++) expect(await statusOf(url)).toBe(404)
    const third = await start()
    second.process.kill('SIGTERM')
    expect(await exitOf(second.process)).toBe(0)
    for (let asked = 0; asked < CONNECTIONS; asked++) expect(await statusOf(url)).toBe(404)
    await expect.poll(() => requestsOf(third)).toBeGreaterThanOrEqual(CONNECTIONS)
  },
)

test('an instance without REUSE_PORT does not share its port', async () => {
  const PORT = String(await freePort())
  await startDemo({ environment: { PORT, REUSE_PORT: 'true' }, opened })
  const other = await startProgram({ args: ['serve'], environment: { PORT }, opened })
  expect(await exitOf(other.process)).toBe(1)
  expect(other.output()).toContain('another program is listening there')
})

function requestsOf({ output }: Demo): number {
  return output().split('request finished').length - 1
}

/** On a connection of its own. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}
