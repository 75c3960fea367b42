// On PostgreSQL and MinIO, behind nginx.
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { startDns } from '../../support/faults/dns.ts'
import { answers, freePort } from '../../support/servers/local-server.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import { findNginx, startProxy } from '../../support/servers/nginx.ts'
import { exitOf, type Started, startProgram } from '../../support/service/program.ts'
import { contentOf } from './content.ts'
import { type Outcome, type Request, send } from './request.ts'
import { openWorld, type World } from './world.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'

const minio = inject('minio')
const postgres = inject('postgres')
const isWithoutNginx = isSkipped(await whyMissing(findNginx()))
const missing = minio === undefined || postgres === undefined || isWithoutNginx

/** The hosts of the two instances, on one port, as containers are. */
const HOSTS = ['127.0.0.2', '127.0.0.3'] as const
const ROUNDS = Number(process.env['ROLLING_ROUNDS'] ?? 2)

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe.skipIf(missing)('a rolling restart of two instances under load', () => {
  it('fails no request, behind nginx or of clients that leave the instance in time', async () => {
    const world = opened.use(await openWorld({ postgres, s3: minio }))
    const port = await freePort()
    const instances = new Map<string, Started>()
    for (const host of HOSTS) instances.set(host, await startInstance(world, { host, port }))
    const dns = await startDns(HOSTS)
    opened.defer(() => dns.stop())
    const proxy = await startProxy({ port, dnsPort: dns.port })
    opened.defer(() => proxy.stop())

    const clients = new Clients(world, { host: '127.0.0.1', port: proxy.port })
    const working = clients.run()
    let unaccepted = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (const host of HOSTS) {
        const direct = new Clients(world, { host, port, isDirect: true })
        const talking = direct.run()
        await expect.poll(() => direct.requests, { timeout: 60_000 }).toBeGreaterThan(20)
        instances.get(host)?.process.kill('SIGTERM')
        direct.leave()
        expect(await exitOf(instances.get(host)?.process ?? fail())).toBe(0)
        await talking
        expect(direct.failures).toEqual([])
        // Whom it did accept, it has answered.
        expect(instances.get(host)?.output()).not.toContain('"status":499')
        unaccepted += direct.unaccepted
        instances.set(host, await startInstance(world, { host, port }))
      }
    }
    clients.finish()
    await working
    expect(clients.failures).toEqual([])
    expect(clients.requests).toBeGreaterThan(100)
    // The moment is short, so that few of the stops find someone in it.
    expect(unaccepted).toBeLessThanOrEqual(ROUNDS)
    console.info(
      `${ROUNDS} rounds, ${clients.requests} requests through nginx, none failed; ` +
        `${unaccepted} connections came in the moment of a close`,
    )
  }, 600_000)
})

function fail(): never {
  throw new Error('There is no such instance')
}

async function startInstance(
  { environment }: World,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Started> {
  const settings = { ...environment, LOG_LEVEL: 'info', HOST: host, PORT: String(port) }
  const started = await startProgram({ args: ['serve'], environment: settings, opened })
  await expect.poll(started.output, { timeout: 180_000 }).toContain('the API listens at')
  const ready = `http://${host}:${port}/readyz`
  await expect.poll(() => answers(ready), { timeout: 60_000, interval: 100 }).toBe(true)
  return started
}

interface Target {
  readonly host: string
  readonly port: number
  /**
   * Whether it is the instance itself. Every other client then leaves in time, as a balancer does, and may meet no
   * failure at all; the others come until nobody listens any more.
   */
  readonly isDirect?: boolean
}

/** A third of what the drain allows. */
const LEAVING_MS = 1_000

/** Clients that never repeat a request, some on kept connections and some on a new one for each. */
class Clients {
  requests = 0
  readonly failures: string[] = []
  /**
   * Connections of those who come to the end that nobody accepted: TCP resets whom the closing of a listener finds in
   * its queue, and no server can help it.
   */
  unaccepted = 0
  readonly #world: World
  readonly #target: Target
  #isOver = false
  #leavesAt = Number.POSITIVE_INFINITY

  constructor(world: World, target: Target) {
    this.#world = world
    this.#target = target
  }

  async run(): Promise<void> {
    const agents = [true, true, true, false, false].map((keepAlive) => new Agent({ keepAlive }))
    await Promise.all(agents.map((agent, at) => this.#work(agent, at)))
    agents.forEach((agent) => agent.destroy())
  }

  finish(): void {
    this.#isOver = true
  }

  /** Tells those who leave in time that the instance is about to end. */
  leave(): void {
    this.#leavesAt = performance.now() + LEAVING_MS
  }

  async #work(agent: Agent, at: number): Promise<void> {
    const { host, port, isDirect = false } = this.#target
    const isLeaving = isDirect && at % 2 === 0
    const staysToTheEnd = isDirect && !isLeaving
    const path = `/users/me/repo/${host}-${at}`
    for (let turn = 0; !this.#isOver; turn++) {
      const content = contentOf(`${path}/${turn}`, turn % 7 === 0 ? 2_000_000 : 20_000)
      const form = fileBody(content)
      const pieces = [0, 1, 2, 3].map((quarter) =>
        form.subarray((quarter * form.length) / 4, ((quarter + 1) * form.length) / 4),
      )
      const steps: [number, Omit<Request, 'agent' | 'host' | 'port'>][] = [
        [200, { method: 'POST', path, headers: FORM(form.length), body: pieces, pauseMs: 20 }],
        [200, { method: 'GET', path }],
        [
          200,
          { method: 'PUT', path: `${path}-put`, headers: RAW(content.length), body: [content] },
        ],
        [200, { method: 'GET', path: '/users/me/repo' }],
        [204, { method: 'DELETE', path: `${path}-put` }],
      ]
      for (const [status, request] of steps) {
        const headers = { ...request.headers, cookie: this.#world.users[1]?.cookie ?? '' }
        const outcome = await send({ ...request, headers, agent, host, port })
        if (staysToTheEnd && outcome.kind === 'unsent') return
        this.requests += 1
        if (staysToTheEnd && isUnaccepted(outcome)) {
          this.unaccepted += 1
          return
        }
        // A machine that is too busy for its database's deadlines says nothing about restarts; the next turn does.
        if (isOverload(outcome)) break
        this.#expect(outcome, { status, what: `${request.method} ${request.path}` })
        if (request.path === path && request.method === 'GET') this.#expectContent(outcome, content)
        if (isLeaving && performance.now() >= this.#leavesAt) return
        await delay((turn * 13 + at * 7) % 40)
      }
    }
  }

  #expect(outcome: Outcome, { status, what }: { status: number; what: string }): void {
    if (outcome.kind === 'reply' && outcome.status === status && outcome.body !== undefined) return
    const found =
      outcome.kind === 'reply'
        ? `${outcome.status} ${outcome.body?.toString() ?? 'and no end'}`
        : JSON.stringify(outcome)
    this.failures.push(`${what}: ${found.slice(0, 300)}`)
  }

  #expectContent(outcome: Outcome, content: Buffer): void {
    if (outcome.kind === 'reply' && outcome.body?.equals(content) === true) return
    this.failures.push(`${this.#target.host}: other bytes`)
  }
}

function isUnaccepted(outcome: Outcome): boolean {
  return outcome.kind === 'lost' && outcome.reason === 'ECONNRESET' && outcome.onNewConnection
}

function isOverload(outcome: Outcome): boolean {
  if (outcome.kind !== 'reply' || outcome.status !== 503) return false
  return outcome.body?.includes('does not answer') === true
}

const FORM = (length: number) => ({
  'content-type': 'multipart/form-data; boundary=XBOUNDARY',
  'content-length': String(length),
})

const RAW = (length: number) => ({ 'content-length': String(length) })
