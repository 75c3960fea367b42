import { once } from 'node:events'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { runSql } from '../support/run-sql.ts'
import { sampleOf } from '../support/http/metrics-text.ts'
import { type Demo, startDemo } from '../support/service/demo.ts'
import { freePort } from '../support/servers/local-server.ts'
import { createPlace, isWithoutProduction } from '../support/service/production-service.ts'
import { exitOf, startProgram, temporaryFolder } from '../support/service/program.ts'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

const UPLOADS =
  'cloud_repository_requests_total{listener="public",method="PUT",route="/users/me/repo/:file_name",status="200"}'

describe.skipIf(isWithoutProduction())('a service with two workers', () => {
  it('answers by both, and each sees at once what the other has stored', async () => {
    const { url, cookie, log } = await startWorkers()
    const times = 24
    for (let number = 0; number < times; number++) {
      const file = `${url}/users/me/repo/file-${number}`
      const body = Buffer.alloc(100_000, number)
      expect((await ask(file, { method: 'PUT', cookie, body })).status).toBe(200)
      const read = await ask(file, { cookie })
      expect(read.status).toBe(200)
      expect(read.body.equals(body)).toBe(true)
    }
    const requests = log().filter(({ method }) => method === 'PUT' || method === 'GET')
    expect(new Set(requests.map(({ worker }) => worker))).toEqual(new Set([1, 2]))
    expect(new Set(requests.map(({ pid }) => pid))).toEqual(new Set(pidsOf(log())))
    // Each request has a connection of its own, which the system gives to either.
    expect(requests.some(({ pid }, at) => at % 2 === 1 && pid !== requests[at - 1]?.pid)).toBe(true)
  })

  it('exposes sums, whichever worker is asked, and loses no count with a worker', async () => {
    const WORKERS_FILE = join(await temporaryFolder(opened), 'workers')
    await writeFile(WORKERS_FILE, '2')
    const { url, cookie, log, metricsUrl } = await startWorkers({ WORKERS_FILE })
    for (let number = 0; number < 9; number++) {
      const file = `${url}/users/me/repo/file-${number}`
      expect((await ask(file, { method: 'PUT', cookie, body: Buffer.from('a') })).status).toBe(200)
    }
    for (let time = 0; time < 4; time++) {
      const { body } = await ask(`${metricsUrl}/metrics`)
      const text = body.toString()
      expect(sampleOf(text, UPLOADS)).toBe(9)
      expect(sampleOf(text, 'cloud_repository_part_up{part="database"}')).toBe(1)
      expect(sampleOf(text, 'cloud_repository_build_info{version="0.1.0"}')).toBe(1)
      expect(sampleOf(text, 'cloud_repository_upload_memory_limit_bytes')).toBe(256 * 2 ** 20)
      expect(sampleOf(text, 'cloud_repository_database_connections_limit')).toBe(20)
      expect(text).not.toMatch(/ (null|undefined)$/m)
    }
    // The replacement gets the same share as its predecessor.
    await writeFile(WORKERS_FILE, '4')
    const [pid = 0] = pidsOf(log())
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => pidsOf(log()), { timeout: 30_000 }).toHaveLength(3)
    const { body } = await ask(`${metricsUrl}/metrics`)
    const text = body.toString()
    expect(sampleOf(text, UPLOADS)).toBe(9)
    expect(sampleOf(text, 'cloud_repository_upload_memory_limit_bytes')).toBe(256 * 2 ** 20)
    expect(sampleOf(text, 'cloud_repository_database_connections_limit')).toBe(20)
  })

  it('exposes the last known counts of a worker that does not respond', async () => {
    const { url, cookie, log, metricsUrl } = await startWorkers()
    for (let number = 0; number < 4; number++) {
      const file = `${url}/users/me/repo/file-${number}`
      expect((await ask(file, { method: 'PUT', cookie, body: Buffer.from('a') })).status).toBe(200)
    }
    const before = await ask(`${metricsUrl}/metrics`)
    expect(sampleOf(before.body.toString(), UPLOADS)).toBe(4)
    const [pid = 0] = pidsOf(log())
    process.kill(pid, 'SIGSTOP')
    // Otherwise it would outlive the primary.
    opened.defer(() => void process.kill(pid, 'SIGKILL'))
    // The stopped worker gets about half of the connections.
    const asked = Array.from({ length: 24 }, () => ask(`${metricsUrl}/metrics`))
    const { body } = await Promise.any(asked)
    expect(sampleOf(body.toString(), UPLOADS)).toBe(4)
    expect(log()).toContainEqual(
      expect.objectContaining({
        msg: 'a worker does not respond',
        worker: expect.any(Number) as number,
      }),
    )
    for (const each of asked) each.catch(() => undefined)
  })

  it.skipIf(process.platform !== 'linux')('is ready when all workers listen', async () => {
    const { environment } = await newPlace()
    const url = `http://127.0.0.1:${await freePort()}`
    const settings = { ...environment, PORT: new URL(url).port, WORKERS: '2' }
    const started = await startProgram({ args: ['serve'], environment: settings, opened })
    const children = () => childrenOf(started.process.pid)
    // The second is started when the first has opened its database.
    await expect.poll(children, { timeout: 30_000, interval: 1 }).toHaveLength(2)
    const [first = 0] = await children()
    process.kill(first, 'SIGSTOP')
    await expect.poll(started.output, { timeout: 30_000 }).toContain('worker serves')
    const refused = await ask(`${url}/readyz`)
    expect(refused.status).toBe(503)
    expect(refused.body.toString()).toContain('Not all workers have started yet.')
    expect(started.output()).not.toContain('request failed')
    expect((await ask(`${url}/livez`)).status).toBe(200)
    process.kill(first, 'SIGCONT')
    await expect.poll(async () => (await ask(`${url}/readyz`)).status).toBe(200)
  })

  it('G01 lets a running upload finish on SIGTERM, refuses new connections, and ends with 0', async () => {
    const { process, url, cookie, output, metricsUrl } = await startWorkers()
    await expect.poll(async () => (await ask(`${url}/readyz`)).status).toBe(200)
    const slow = await Promise.all([0, 1].map((number) => beginUpload({ url, cookie, number })))
    process.kill('SIGTERM')
    await expect.poll(() => output().match(/"stopping"/g)).toHaveLength(2)
    for (const origin of [url, url, metricsUrl, metricsUrl]) {
      expect((await ask(`${origin}/readyz`)).status).toBe(503)
    }
    await expect.poll(() => refuses(url), { timeout: 20_000 }).toBe(true)
    expect(process.exitCode).toBe(null)
    for (const upload of slow) expect(await upload.finish()).toBe(200)
    expect(await exitOf(process)).toBe(0)
    expect(output().match(/"stopped"/g)).toHaveLength(2)
  })

  it('G01 lets a running upload finish when the signal comes again, through the primary', async () => {
    const { process: primary, url, cookie, log } = await startWorkers()
    const slow = await Promise.all([0, 1].map((number) => beginUpload({ url, cookie, number })))
    for (const pid of pidsOf(log())) process.kill(pid, 'SIGTERM')
    await sleep(1_100)
    primary.kill('SIGTERM')
    await sleep(200)
    for (const upload of slow) expect(await upload.finish()).toBe(200)
    expect(await exitOf(primary)).toBe(0)
  })

  it.skipIf(process.platform !== 'linux')(
    'G08 leaves no connection open with a worker that was killed',
    async () => {
      const { url, log } = await startWorkers()
      const [pid = 0] = pidsOf(log())
      process.kill(pid, 'SIGSTOP')
      const asked = Array.from({ length: 24 }, () => ask(`${url}/livez`).catch(() => undefined))
      await sleep(500)
      process.kill(pid, 'SIGKILL')
      const statuses = (await Promise.all(asked)).map((answer) => answer?.status)
      expect(new Set(statuses)).toEqual(new Set([200, undefined]))
    },
  )

  it('G08 replaces a worker that was killed, and another aborts its upload', async () => {
    const { url, cookie, log, databaseUrl } = await startWorkers()
    const killed = pidsOf(log())
    const { broken } = await beginUpload({ url, cookie, number: 1 })
    await expect.poll(() => runSql(databaseUrl, 'SELECT state FROM uploads')).toHaveLength(1)
    // Whichever has it.
    for (const pid of killed) process.kill(pid, 'SIGKILL')
    await broken
    // A minute early.
    await runSql(databaseUrl, 'UPDATE uploads SET lease_until = 0')
    await expect.poll(() => pidsOf(log()), { timeout: 30_000 }).toHaveLength(4)
    expect(log()).toContainEqual(
      expect.objectContaining({ msg: 'worker ended; replacing it', signal: 'SIGKILL' }),
    )
    const reserved = () =>
      runSql<{ state: string; reserved: string }>(
        databaseUrl,
        'SELECT state, quotas.reserved_bytes AS reserved FROM uploads JOIN quotas USING (user_id)',
      )
    await expect
      .poll(reserved, { timeout: 40_000 })
      .toEqual([{ state: 'aborted', reserved: expect.stringMatching(/^0$/) as string }])
    expect((await ask(`${url}/users/me/repo/slow-1`, { cookie })).status).toBe(404)
  })

  it('G08 does not spin when replacements fail at their start, and recovers when they can start', async () => {
    const settings = join(await temporaryFolder(opened), 'max-files')
    await writeFile(settings, '10')
    const { url, log } = await startWorkers({ MAX_FILES_FILE: settings })
    await writeFile(settings, 'many')
    const [pid = 0] = pidsOf(log())
    process.kill(pid, 'SIGKILL')
    const ends = () => log().filter(({ msg }) => msg === 'worker ended; replacing it')
    await expect.poll(ends, { timeout: 40_000 }).toHaveLength(3)
    expect(ends().map((line) => line['delay_ms'])).toEqual([1000, 2000, 4000])
    expect(ends().at(-1)).toMatchObject({
      code: 1,
      failure: expect.stringMatching(/MAX_FILES: must be/) as string,
    })
    const [first, second, third] = ends().map(({ time }) => time)
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(1000)
    expect(Number(third) - Number(second)).toBeGreaterThanOrEqual(2000)
    // The other one serves all the while.
    expect((await ask(`${url}/readyz`)).status).toBe(200)
    await writeFile(settings, '10')
    await expect.poll(() => pidsOf(log()), { timeout: 40_000 }).toHaveLength(3)
  })

  it('G08 tries again when the system cannot start another process', async () => {
    const node = join(await temporaryFolder(opened), 'node')
    await copyFile(process.execPath, node)
    const under = ['sh', '-c', `shift; exec ${node} "$@"`, 'sh']
    const { url, log } = await startWorkers({}, under)
    await rename(node, `${node}.away`)
    process.kill(pidsOf(log())[0] ?? 0, 'SIGKILL')
    const failures = () => log().filter(({ msg }) => msg === 'worker failed')
    await expect.poll(failures, { timeout: 30_000 }).not.toEqual([])
    expect(failures()[0]).toMatchObject({ err: { code: 'ENOENT' } })
    expect((await ask(`${url}/readyz`)).status).toBe(200)
    await rename(`${node}.away`, node)
    await expect.poll(() => pidsOf(log()), { timeout: 30_000 }).toHaveLength(3)
  })

  it('leaves no worker behind when the primary is killed', async () => {
    const { process: primary, log } = await startWorkers()
    primary.kill('SIGKILL')
    await exitOf(primary)
    for (const pid of pidsOf(log())) await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it.each([
    ['a database that does not respond', {}],
    ['a wrong setting', { MAX_FILES: 'many' }],
  ])('G08 ends as one process does if it can never start: %s', async (_what, wrong) => {
    const [one, two] = await Promise.all(
      ['1', '2'].map(async (WORKERS) => {
        const environment = { ...ABSENT, ...wrong, WORKERS, PORT: String(await freePort()) }
        const { process, output } = await startProgram({ args: ['serve'], environment, opened })
        return { code: await exitOf(process), output: output() }
      }),
    )
    expect(one?.code).toBe(1)
    expect(two).toEqual(one)
  })

  it('refuses several workers under another program that runs it in several processes', async () => {
    const environment = { ...ABSENT, WORKERS: '2', PORT: String(await freePort()) }
    const manager = ['sh', '-c', `exec "$0" -e '${MANAGER}' "$1"`]
    const { process, output } = await startProgram({
      args: ['serve'],
      environment,
      under: manager,
      opened,
    })
    expect(await exitOf(process)).toBe(1)
    expect(output()).toContain('WORKERS: must be 1 under a process manager')
  })

  it('says once that its port is taken, and ends with 1', async () => {
    const { url } = await startWorkers()
    const environment = { ...ABSENT, WORKERS: '2', PORT: new URL(url).port }
    const { process, output } = await startProgram({ args: ['serve'], environment, opened })
    expect(await exitOf(process)).toBe(1)
    expect(output().match(/EADDRINUSE.*Choose another port/g)).toHaveLength(1)
  })
})

describe('a service on SQLite', () => {
  it('refuses several workers at its start', async () => {
    const environment = { WORKERS: '4' }
    const { process, output } = await startProgram({ args: ['serve'], environment, opened })
    expect(await exitOf(process)).toBe(1)
    expect(output()).toContain('WORKERS: must be 1 or auto with SQLite or local files')
  })

  it('has one process where the number is left to it', async () => {
    const { url, log } = await startService({ WORKERS: 'auto' })
    expect((await ask(`${url}/readyz`)).status).toBe(200)
    expect(new Set(log().map(({ pid }) => pid)).size).toBe(1)
    expect(log().some((line) => 'worker' in line)).toBe(false)
  })
})

const MANAGER =
  'const c = require("node:cluster"); c.setupPrimary({ exec: process.argv[1], args: ["serve"], execArgv: [] }); ' +
  'c.fork().on("exit", (code) => process.exit(code))'

const ABSENT = {
  DATABASE_URL: 'postgres://user:password@127.0.0.1:1/none',
  OBJECT_STORE: 's3://none',
  AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
}

interface Line extends Readonly<Record<string, unknown>> {
  readonly pid: number
  readonly msg: string
}

interface Workers extends Demo {
  readonly log: () => readonly Line[]
  readonly metricsUrl: string
}

async function startService(
  settings: Readonly<Record<string, string>>,
  under: readonly string[] = [],
): Promise<Workers> {
  const environment = { METRICS_PORT: '0', ...settings }
  const demo = await startDemo({ environment, under, opened })
  const log = () =>
    demo
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
  const [, metricsUrl = ''] = /metrics endpoint listens at (http[^"]+)/.exec(demo.output()) ?? []
  return { ...demo, log, metricsUrl }
}

async function startWorkers(
  settings: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): Promise<Workers & { readonly databaseUrl: string }> {
  const { environment } = await newPlace()
  const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) }
  const own = { ...environment, ...ports, ...settings, WORKERS: '2' }
  const started = await startService(own, under)
  await expect.poll(() => pidsOf(started.log()), { timeout: 30_000 }).toHaveLength(2)
  return { ...started, databaseUrl: environment['DATABASE_URL'] ?? '' }
}

async function newPlace() {
  const place = await createPlace()
  opened.defer(() => place.remove())
  return place
}

/** Of all workers that have served, in that order. */
function pidsOf(log: readonly Line[]): readonly number[] {
  return log.filter(({ msg }) => msg === 'worker serves').map((line) => Number(line['worker_pid']))
}

interface Ask {
  readonly method?: string
  readonly cookie?: string
  readonly body?: Buffer
}

/** On a connection of its own, so that the next worker gets it. */
async function ask(
  url: string,
  { method = 'GET', cookie, body }: Ask = {},
): Promise<{ readonly status: number | undefined; readonly body: Buffer }> {
  const headers = { connection: 'close', ...(cookie !== undefined && { cookie }) }
  const sent = request(url, { agent: false, method, headers }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: Buffer.concat(await response.toArray()) }
}

/** Sends half of a file; `broken` resolves when the connection ends without a response. */
async function beginUpload({
  url,
  cookie,
  number,
}: Pick<Demo, 'url' | 'cookie'> & { number: number }) {
  const half = Buffer.alloc(500_000, number)
  const headers = { cookie, 'content-length': 2 * half.length }
  const file = `${url}/users/me/repo/slow-${number}`
  const sent = request(file, { agent: false, method: 'PUT', headers })
  const broken = once(sent, 'error')
  broken.catch(() => undefined)
  await new Promise<void>((resolve) => sent.write(half, () => resolve()))
  return {
    broken,
    async finish() {
      sent.end(half)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    },
  }
}

async function refuses(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

async function childrenOf(pid: number | undefined): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').filter(Boolean).map(Number)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
