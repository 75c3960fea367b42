import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { numbered } from '../../bench/setup/content.ts'
import type { Report } from '../../bench/measure/report.ts'
import { runProgram } from '../../bench/setup/run-program.ts'
import type { StackName } from '../../bench/setup/stack.ts'
import { runWrk } from '../../bench/measure/wrk.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'

const skipped = isSkipped(await whyMissing(findProgram('wrk')))

describe.skipIf(skipped)('the benchmark', () => {
  it('sends each prepared request once, with a content that no other has', async () => {
    const content = randomBytes(4096)
    await using target = await listen(200)
    const work = await runWrk({ ...(await loadOf(target.origin)), body: around(content) })
    const numbers = target.received.map(({ path }) => Number(path.slice('/name-'.length)))
    expect(new Set(numbers).size).toBe(numbers.length)
    // Those that were under way when it ended are known to the server alone.
    expect(numbers.length - work.operations).toBeLessThanOrEqual(2)
    for (const { path, body, cookie } of target.received.slice(0, 50)) {
      const number = Number(path.slice('/name-'.length))
      expect(body).toEqual(
        Buffer.concat([Buffer.from('<'), numbered(content, number), Buffer.from('>')]),
      )
      expect(cookie).toBe(`access_token=${number}`)
    }
  })

  it('takes no run for one in which requests are refused', async () => {
    await using target = await listen(403)
    const load = { ...(await loadOf(target.origin)), body: around(randomBytes(4096)) }
    await expect(runWrk(load)).rejects.toThrow('requests were refused')
  })

  it('appends a content to each upload that it created, at the URL of the response', async () => {
    const content = randomBytes(4096)
    await using target = await listen(201)
    const load = {
      ...(await loadOf(target.origin)),
      method: 'POST',
      append: { Cookie: 'a=b' },
    } as const
    const work = await runWrk({ ...load, body: around(content) })
    const created = target.received.filter(({ method }) => method === 'POST')
    const appended = target.received.filter(({ method }) => method === 'PATCH')
    expect(Math.abs(work.operations - appended.length)).toBeLessThanOrEqual(2)
    const urls = new Set(created.map(({ path }) => `${path}-upload`))
    for (const [at, { path, body, cookie }] of appended.slice(0, 50).entries()) {
      expect(urls).toContain(path)
      expect(cookie).toBe('a=b')
      const number = Number(body.subarray(1, 17).toString('latin1'))
      expect(Math.abs(number - at)).toBeLessThanOrEqual(2)
      expect(body.subarray(17, -1)).toEqual(content.subarray(16))
    }
    for (const { body } of created) expect(body).toHaveLength(0)
  })

  it('measures the service, and says what it measured', async () => {
    await using opened = new AsyncDisposableStack()
    const { printed, report, text } = await run(['upload-form-4k'], 'sqlite-files', opened)
    const [result] = report.results
    const { per_second, service_cpu_ms, peak_rss_mib } = result?.outcome?.subject.spreads ?? {}
    expect(per_second?.median).toBeGreaterThan(1)
    expect(service_cpu_ms?.median).toBeGreaterThan(0)
    expect(peak_rss_mib?.median).toBeGreaterThan(30)
    expect(printed).toBe(text)
  })

  it('measures resumable uploads, and checks what it has sent', async () => {
    await using opened = new AsyncDisposableStack()
    const names = ['append-1g', 'append-8m', 'append-1k', 'append-10000', 'upload-tus-4k']
    const { report } = await run(
      [...names, 'unfinished-100', 'append-64x64m'],
      'sqlite-files',
      opened,
    )
    expect(report.results.filter(({ reason }) => reason !== undefined)).toEqual([])
    expect(report.results).toHaveLength(7)
    for (const { outcome } of report.results) {
      expect(outcome?.subject.spreads.service_cpu_ms?.median).toBeGreaterThan(0)
    }
    const compared = report.results.filter(({ outcome }) => outcome?.cpu_ratio !== undefined)
    expect(compared).toHaveLength(6)
  })

  it('measures of each side only the processes that the side uses', async () => {
    await using opened = new AsyncDisposableStack()
    const { report } = await run(['download-4k', 'instances-2'], 'postgres-minio', opened)
    const [download, instances] = report.results.map(({ outcome }) => outcome)
    expect(download?.subject.spreads).toHaveProperty('peak_rss_mib')
    expect(download?.baseline?.spreads).toHaveProperty('object_store_cpu_ms')
    expect(download?.baseline?.spreads).not.toHaveProperty('peak_rss_mib')
    const [two = 0, one = 0] = [instances?.subject, instances?.baseline].map(
      (side) => side?.spreads.peak_rss_mib?.median,
    )
    expect(one).toBeGreaterThan(30)
    // If both had the same processes, they would be equal. One that does all the work takes more than half.
    expect(one).toBeLessThan(two * 0.75)
  })
})

/** One round of small sizes. */
async function run(names: readonly string[], stack: StackName, opened: AsyncDisposableStack) {
  const results = join(await temporaryFolder(opened), 'results')
  const scenarios = names.flatMap((name) => ['--scenario', name])
  const sizes = [
    '--stack',
    stack,
    '--rounds',
    '1',
    // On a busy disk, one sync can take a second.
    '--seconds',
    '3',
    '--warm-up',
    '1',
    '--scale',
    '0.01',
  ]
  const args = ['bench/main.ts', ...scenarios, ...sizes, '--results', results]
  const printed = await runProgram(process.execPath, args, RUN_MS)
  const report = JSON.parse(await readFile(`${results}.json`, 'utf8')) as Report
  return { printed, report, text: await readFile(`${results}.md`, 'utf8') }
}

const RUN_MS = 280_000

function around(content: Buffer) {
  return { before: '<', content, after: '>' }
}

async function loadOf(origin: string) {
  const targets = Array.from(
    { length: 60_000 },
    (_, at) => `/name-${at + 1}\tCookie: access_token=${at + 1}`,
  )
  const size = { contentBytes: 4096, seconds: 1, connections: 2 }
  return { origin, method: 'PUT', targets, ...size, folder: tmpdir() } as const
}

interface Received {
  readonly method: string | undefined
  readonly path: string
  readonly cookie: string | undefined
  readonly body: Buffer
}

async function listen(status: number) {
  const received: Received[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // wrk breaks off what is under way when its time is up.
    const body = await buffer(request).catch(() => undefined)
    if (body === undefined) return
    const { method, url: path = '', headers } = request
    received.push({ method, path, cookie: headers.cookie, body })
    response.writeHead(method === 'PATCH' ? 204 : status, { location: `${path}-upload` }).end()
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
