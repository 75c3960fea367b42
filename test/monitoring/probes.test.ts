// The program on SQLite and local files.
import { afterEach, describe, expect, it } from 'vitest'
import { exitOf, startProgram } from '../support/service/program.ts'
import { parseMetrics } from '../support/http/metrics-text.ts'

const ADMIN_TOKEN = 'the-token-of-this-test'
const LISTENERS = ['the API', 'the admin API', 'the metrics endpoint'] as const

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('probes and metrics', () => {
  it('answer on every listener without a token, but metrics on the admin listener', async () => {
    const { urls } = await start()
    for (const url of urls) {
      expect(await ask(`${url}/livez`)).toMatchObject({ status: 200, text: '{"status":"live"}' })
      expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200 })
    }
    const [api, admin, monitoring] = urls
    expect(await ask(`${api}/metrics`)).toMatchObject({ status: 404 })
    expect(await ask(`${admin}/metrics`)).toMatchObject({ status: 401 })
    expect(await ask(`${admin}/admin/users`)).toMatchObject({ status: 401 })
    expect(await ask(`${monitoring}/admin/users`)).toMatchObject({ status: 404 })
    const { status, text } = await ask(`${monitoring}/metrics`)
    expect(status).toBe(200)
    const names = parseMetrics(text).map(({ name }) => name)
    expect(names).toContain('cloud_repository_part_up')
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds')
    expect(text).toContain('cloud_repository_part_up{part="object_store"} 1')
    const posted = await fetch(`${monitoring}/metrics`, { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
  })

  it('say on every listener that it is draining, and it ends with 0', async () => {
    const { urls, process } = await start()
    // Connections that are kept have it drain for as long as it does.
    for (const url of urls) await ask(`${url}/livez`)
    process.kill('SIGTERM')
    for (const url of urls) {
      await expect.poll(() => ask(`${url}/readyz`)).toMatchObject({ status: 503 })
      const { status, text } = await ask(`${url}/livez`)
      expect([status, text]).toEqual([200, '{"status":"live"}'])
    }
    expect(await exitOf(process)).toBe(0)
  })
})

async function start() {
  const environment = { ADMIN_TOKEN, ADMIN_PORT: '0', METRICS_PORT: '0' }
  const { output, process } = await startProgram({ args: ['serve'], environment, opened })
  await expect.poll(output, { timeout: 20_000 }).toMatch(/the metrics endpoint listens at /)
  const urls = LISTENERS.map((listener) => {
    const [, url = ''] = new RegExp(`${listener} listens at (http:[^"]+)`).exec(output()) ?? []
    return url
  })
  return { urls, process }
}

async function ask(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const reply = await fetch(url)
  return { status: reply.status, text: await reply.text() }
}
