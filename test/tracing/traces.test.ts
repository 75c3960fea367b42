import { rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exitOf, temporaryFolder } from '../support/service/program.ts'
import {
  CLIENT,
  ERROR,
  SERVER,
  startTraceCollector,
  type TraceCollector,
} from '../support/http/trace-collector.ts'
import type { Demo } from '../support/service/demo.ts'
import { startTracedDemo, traceOf } from './traced-demo.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'

/** Has a process print the URL of every module that it loads. */
const TELLS_WHAT_IT_LOADS = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { console.log('loaded ' + url); return next(url, context) } })
`)}`

describe('the traces', () => {
  let opened: AsyncDisposableStack
  let collector: TraceCollector
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    collector = await startTraceCollector()
    opened.defer(() => collector.stop())
  })
  afterEach(() => opened.disposeAsync())

  function start(environment: Readonly<Record<string, string>> = {}): Promise<Demo> {
    return startTracedDemo({ collector, environment, opened })
  }

  it('have a span for each request, and under it what it asked of database and object store', async () => {
    const { url, cookie, output } = await start({ NODE_OPTIONS: TELLS_WHAT_IT_LOADS })
    expect(output()).toMatch(/^loaded .*@opentelemetry\/sdk-trace/m)
    const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`
    const file = `${url}/users/me/repo/diary.txt`
    const headers = { cookie, traceparent }
    const reply = await fetch(file, { method: 'PUT', headers, body: 'hello' })
    expect(reply.status).toBe(200)
    const { root, under } = await traceOf(collector, 'PUT')
    expect(root).toMatchObject({
      name: 'PUT /users/me/repo/*',
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      resource: { 'service.name': 'cloud-repository' },
      attributes: {
        'http.request.method': 'PUT',
        'http.route': '/users/me/repo/*',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'network.protocol.version': '1.1',
        'user.id': 'demo',
        'http.response.header.x-request-id': {
          values: [{ stringValue: reply.headers.get('x-request-id') }],
        },
      },
    })
    expect(root.status.code ?? 0).toBe(0)
    expect(under).toEqual([
      'user_store.findAccessTokenUser',
      'ledger.begin',
      'object_store.put',
      'ledger.commit',
    ])
    const commit = collector.spans.find(({ name }) => name === 'ledger.commit')
    expect(commit).toMatchObject({
      kind: CLIENT,
      traceId: TRACE_ID,
      attributes: { 'db.system.name': 'sqlite', 'db.operation.name': 'ledger.commit' },
    })
    const put = collector.spans.find(({ name }) => name === 'object_store.put')
    const key: unknown = expect.stringMatching(/^users\/demo\/[0-9a-f-]{36}$/)
    expect(put?.attributes).toEqual({
      'cloud_repository.object.key': key,
      'cloud_repository.object.size': 5,
    })
    expect(output()).toContain(`"trace_id":"${TRACE_ID}"`)
    await (await fetch(file, { headers: { cookie } })).text()
    expect((await traceOf(collector, 'GET')).under).toEqual([
      'ledger.findFile',
      'object_store.open',
    ])
  })

  it('tell a refusal from a failure', async () => {
    const { url, cookie } = await start()
    expect((await fetch(`${url}/users/me/repo/none`, { headers: { cookie } })).status).toBe(404)
    const missing = await traceOf(collector, 'GET')
    expect(missing.root.attributes['cloud_repository.code']).toBe('not_found')
    expect(missing.root.status.code ?? 0).toBe(0)
    const headers = { cookie, 'content-length': String(4 * 2 ** 30) }
    const refused = await refusedUpload(`${url}/users/me/repo/large`, headers)
    expect(refused).toBe(403)
    const { root } = await traceOf(collector, 'PUT')
    const begin = collector.spans.find(({ name }) => name === 'ledger.begin')
    expect(begin?.attributes['cloud_repository.code']).toBe('capacity_exceeded')
    for (const span of [root, begin]) expect(span?.status.code ?? 0).toBe(0)
  })

  it('say what failed, and how, without its message', async () => {
    const DATA_DIR = await temporaryFolder(opened)
    const { url, cookie } = await start({ DATA_DIR })
    await rm(join(DATA_DIR, 'objects'), { recursive: true })
    await writeFile(join(DATA_DIR, 'objects'), 'no folder')
    const init = { method: 'PUT', headers: { cookie }, body: 'x' }
    expect((await fetch(`${url}/users/me/repo/a`, init)).status).toBe(503)
    const { root } = await traceOf(collector, 'PUT')
    expect(root).toMatchObject({
      status: { code: ERROR },
      attributes: {
        'error.type': 'unavailable',
        'http.response.status_code': 503,
        'cloud_repository.aborted_by': 'object_store',
      },
    })
    const kind: unknown = expect.stringMatching(/^E(NOTDIR|EXIST)$/)
    expect(collector.spans.find(({ name }) => name === 'object_store.put')).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': kind },
    })
    expect(collector.text()).not.toContain(DATA_DIR)
  })

  it('hold no token, no file name and no address, and none is of a probe', async () => {
    const { url, cookie, process } = await start()
    const headers = { cookie, 'user-agent': 'agent-of-this-test' }
    await fetch(`${url}/livez`)
    await fetch(`${url}/readyz`)
    await fetch(`${url}/users/me/repo?prefix=diary`, { headers })
    await fetch(`${url}/users/me/repo/diary.txt`, { headers, method: 'PUT', body: 'dear' })
    await fetch(`${url}/users/me/repo/diary.txt?diary=1`, { headers })
    await fetch(`${url}/users/me/repo/%zzdiary`, { headers })
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
    const names = collector.spans.filter(({ kind }) => kind === SERVER).map(({ name }) => name)
    expect(names).toHaveLength(4)
    expect(names).toContain('GET')
    for (const secret of ['diary', 'dear', 'crt_', cookie, '127.0.0.1', 'agent-of-this-test']) {
      expect(collector.text()).not.toContain(secret)
    }
  })

  it('end with the process: what it did last is sent', async () => {
    const { url, process } = await start({ OTEL_BSP_SCHEDULE_DELAY: '60000' })
    await fetch(`${url}/users/demo/repo`)
    expect(collector.spans).toEqual([])
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
    expect(collector.spans.map(({ name }) => name)).toContain('GET /users/:user_id/repo')
  })

  it('are of the share that the sampler takes, and what is not taken is in the log all the same', async () => {
    const { url, output, process } = await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
    const tracesOf = (flag: string) => ({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-${flag}` })
    await fetch(`${url}/users/demo/repo`)
    await fetch(`${url}/users/demo/repo`, { headers: tracesOf('00') })
    await fetch(`${url}/users/demo/repo`, { headers: tracesOf('01') })
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
    const roots = collector.spans.filter(({ kind }) => kind === SERVER)
    expect(roots).toMatchObject([{ traceId: TRACE_ID }])
    expect(output().match(/"trace_id":"[0-9a-f]{32}"/g)).toHaveLength(3)
  })

  it('go by protocol buffers when nothing else is said, with the headers that a file holds', async () => {
    const other = await startTraceCollector('hangs')
    opened.defer(() => other.stop())
    const file = join(await temporaryFolder(opened), 'headers')
    await writeFile(file, 'x-key=of-this-test\n')
    const { url } = await start({
      OTEL_EXPORTER_OTLP_PROTOCOL: '',
      OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
      OTEL_EXPORTER_OTLP_HEADERS_FILE: file,
    })
    await fetch(`${url}/users/demo/repo`)
    await expect.poll(() => other.requests, { timeout: 10_000 }).not.toEqual([])
    expect(other.requests[0]).toMatchObject({
      url: '/v1/traces',
      headers: { 'content-type': 'application/x-protobuf', 'x-key': 'of-this-test' },
    })
  })

  it.each(['hangs', 'refuses'] as const)(
    'hold up neither a request nor the end when their collector %s',
    async (manner) => {
      const other = await startTraceCollector(manner)
      opened.defer(() => other.stop())
      const { url, process, output } = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
        OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      })
      const began = performance.now()
      for (let count = 0; count < 50; count++) await fetch(`${url}/users/demo/repo`)
      expect(performance.now() - began).toBeLessThan(5_000)
      await expect.poll(() => other.requests.length, { timeout: 10_000 }).toBeGreaterThan(0)
      await expect.poll(output, { timeout: 15_000 }).toContain('exporting spans failed')
      process.kill('SIGTERM')
      const ended = performance.now()
      expect(await exitOf(process)).toBe(0)
      // A second without a connection, a second for the last spans, and what a busy machine adds.
      expect(performance.now() - ended).toBeLessThan(8_000)
      expect(output()).toContain('"stopped"')
    },
  )

  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_SDK_DISABLED: 'True' },
  ])('are off with %j, and nothing of OpenTelemetry is loaded to make any', async (environment) => {
    const { url, output } = await start({ ...environment, NODE_OPTIONS: TELLS_WHAT_IT_LOADS })
    await fetch(`${url}/users/demo/repo`)
    expect(output()).not.toContain('trace_id')
    expect(output()).toMatch(/^loaded .*pino/m)
    expect(output()).not.toMatch(/^loaded .*(@opentelemetry\/(sdk|exporter)|src\/tracing)/m)
    expect(collector.requests).toEqual([])
  })
})

/** The status that an upload gets whose body is not sent. */
async function refusedUpload(url: string, headers: Record<string, string>): Promise<number> {
  const sent = httpRequest(url, { method: 'PUT', headers })
  sent.on('error', () => {})
  sent.flushHeaders()
  const status = await new Promise<number>((resolve) => {
    sent.once('response', ({ statusCode = 0 }) => resolve(statusCode))
  })
  sent.destroy()
  return status
}
