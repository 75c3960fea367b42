import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from '../documents/pages.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { type Prometheus, SCRAPE_MS, startPrometheus } from '../support/servers/prometheus.ts'
import { findInstalled } from '../support/servers/postgres-program.ts'
import { dashboardExpressions, ruleExpression, ruleMetrics } from './expressions.ts'
import { startWatchedService, type WatchedService } from './watched-service.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'

const execute = promisify(execFile)

const needed = [findProgram('prometheus'), findProgram('minio'), findInstalled()]
const skipped = isSkipped(await whyMissing(Promise.all(needed)))

const FAULTS = [
  { part: 'object_store', how: 'killed', begin: 'stop', end: 'start' },
  { part: 'object_store', how: 'frozen', begin: 'freeze', end: 'thaw' },
  { part: 'database', how: 'killed', begin: 'stop', end: 'start' },
  { part: 'database', how: 'frozen', begin: 'freeze', end: 'thaw' },
] as const

describe.skipIf(skipped)('a service that Prometheus watches', () => {
  const opened = new AsyncDisposableStack()
  let service: WatchedService
  let prometheus: Prometheus
  let partFailing: string

  beforeAll(async () => {
    service = await startWatchedService(opened)
    prometheus = await startPrometheus({ target: service.monitoring, opened })
    partFailing = await ruleExpression('CloudRepositoryPartFailing')
  })

  afterEach(async () => {
    for (const part of Object.values(service.parts)) await part.thaw()
  })

  afterAll(() => opened.disposeAsync())

  it('gives every panel of the dashboard its series', async () => {
    await use(service)
    await setTimeout(2 * SCRAPE_MS)
    await use(service)
    const silent = async (): Promise<readonly string[]> => {
      const expressions = await dashboardExpressions()
      expect(expressions.length).toBeGreaterThan(40)
      const answers = await Promise.all(expressions.map((text) => prometheus.query(text)))
      return expressions.filter((text, at) => answers[at]?.length === 0 && !QUIET.test(text))
    }
    await expect.poll(silent, { timeout: 30_000, interval: 1000 }).toEqual([])
  })

  it('fires no rule when all is well', async () => {
    expect(await prometheus.query('up{job="cloud-repository"}')).toMatchObject([{ value: 1 }])
    expect(await prometheus.query('ALERTS')).toEqual([])
  })

  it.each(FAULTS)(
    '$part $how: it is named within 2 s, an alert is on its way, and both end',
    async (fault) => {
      const { part, begin, end } = fault
      const other = part === 'database' ? 'object_store' : 'database'
      await expect
        .poll(() => readiness(service), { timeout: 20_000 })
        .toMatchObject({ status: 200 })

      const began = performance.now()
      await service.parts[part][begin]()
      const named = { status: 503, [part]: 'failing', [other]: 'ok' }
      await expect.poll(() => readiness(service), POLL).toMatchObject(named)
      expect(performance.now() - began).toBeLessThan(2_000)

      const failing = async () =>
        (await prometheus.query(partFailing)).map(({ metric }) => metric['part'])
      await expect.poll(failing, { timeout: 20_000 }).toEqual([part])
      const alert = `ALERTS{alertname="CloudRepositoryPartFailing", part="${part}"}`
      await expect.poll(() => prometheus.query(alert), { timeout: 5_000 }).toHaveLength(1)

      await service.parts[part][end]()
      await expect
        .poll(() => readiness(service), { timeout: 20_000 })
        .toMatchObject({ status: 200 })
      await expect.poll(failing, { timeout: 20_000 }).toEqual([])
      await expect.poll(() => prometheus.query(alert), { timeout: 5_000 }).toEqual([])
    },
  )

  it('counts what outages cost, so that every panel and every rule has its series', async () => {
    for (const part of Object.values(service.parts)) {
      await part.stop()
      expect((await put(service, { name: 'lost', bytes: 1000 })).status).toBe(503)
      await part.start()
    }
    const failed = 'sum(cloud_repository_requests_total{method="PUT", status="503"})'
    const count = () => prometheus.query(failed)
    await expect.poll(count, { timeout: 20_000 }).toMatchObject([{ value: 2 }])
    const quiet = (await dashboardExpressions()).filter((text) => /_errors_total/.test(text))
    for (const expression of [...quiet, ...(await ruleMetrics())]) {
      const series = () => prometheus.query(expression)
      await expect.poll(series, { message: expression, timeout: 20_000 }).not.toEqual([])
    }
  })

  it('ends with 0 at SIGTERM', async () => {
    expect(await service.end()).toBe(0)
    const down = await ruleExpression('CloudRepositoryDown')
    await expect.poll(() => prometheus.query(down), { timeout: 20_000 }).toHaveLength(1)
  })
})

describe.skipIf(skipped)('the rules for Prometheus', () => {
  it('are valid, and each fires when it should', async () => {
    const promtool = await findProgram('promtool')
    const cwd = 'deploy/monitoring'
    await execute(promtool, ['check', 'config', 'prometheus.yml'], { cwd })
    await execute(promtool, ['test', 'rules', 'alerts.test.yml'], { cwd })
    const rules = await readFile(`${cwd}/alerts.yml`, 'utf8')
    const tests = await readFile(`${cwd}/alerts.test.yml`, 'utf8')
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !tests.includes(`alertname: ${name}\n`))).toEqual([])
  })

  it('reach the Alertmanager that the file in docs/observing.md names', async () => {
    await using opened = new AsyncDisposableStack()
    const received: { readonly labels: { readonly alertname: string } }[] = []
    const alertmanager = await startListener(opened, async (request) => {
      if (request.url !== '/api/v2/alerts') return ''
      received.push(...((await json(request)) as typeof received))
      return '{}'
    })
    const target = await startListener(
      opened,
      async () => 'cloud_repository_drift{kind="missing_object"} 1\n',
    )
    const page = { path: 'docs/observing.md', text: await readFile('docs/observing.md', 'utf8') }
    const block = blocksOf(page).find(({ name }) => name === '# alertmanagers.yml')
    const alertmanagers = (block?.text ?? '').replace('alertmanager.example.com:9093', alertmanager)
    await startPrometheus({ target, alertmanagers, opened })
    const names = () => received.map(({ labels }) => labels.alertname)
    await expect.poll(names, { timeout: 30_000 }).toContain('CloudRepositoryDataLost')
  })
})

/** A server on the loopback that answers so, as host and port. */
async function startListener(
  opened: AsyncDisposableStack,
  answer: (request: IncomingMessage) => Promise<string>,
): Promise<string> {
  const server = createServer((request, reply) => {
    void answer(request).then((text) => reply.setHeader('content-type', 'text/plain').end(text))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.defer(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Longer than what is allowed, which is measured. */
const POLL = { timeout: 5_000, interval: 50 }

/** Panels that are empty while nothing goes wrong, or no request runs. */
const QUIET = /_errors_total|requests_running/

async function use(service: WatchedService): Promise<void> {
  const { url, cookie } = service
  expect((await put(service, { name: 'a', bytes: 5000 })).status).toBe(200)
  expect((await put(service, { name: 'a', bytes: 6000 })).status).toBe(200)
  expect((await put(service, { name: 'b', bytes: 100_000 })).status).toBe(403)
  expect((await fetch(`${url}/users/me/repo/a`, { headers: { cookie } })).status).toBe(200)
}

function put(
  { url, cookie }: WatchedService,
  { name, bytes }: { readonly name: string; readonly bytes: number },
): Promise<Response> {
  const body = randomBytes(bytes)
  return fetch(`${url}/users/me/repo/${name}`, { method: 'PUT', headers: { cookie }, body })
}

async function readiness({ url }: WatchedService): Promise<Readonly<Record<string, unknown>>> {
  const reply = await fetch(`${url}/readyz`)
  return { ...((await reply.json()) as object), status: reply.status }
}
