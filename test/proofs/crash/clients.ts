import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { fileBody } from '../../support/http/multipart-body.ts'
import { contentOf } from './content.ts'
import { type Outcome, type Request, send } from './request.ts'
import type { World } from './world.ts'

export interface Target {
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
export class Clients {
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
