import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { contentOf, sha256 } from '../crash/content.ts'
import { type Outcome, send } from '../crash/request.ts'
import { BOUNDARY, fileBody } from '../../support/http/multipart-body.ts'

/** How a client fared. */
export interface Fare {
  /** Of each request that was answered as it should be, in milliseconds. */
  readonly latencies: number[]
  readonly errors: string[]
}

const WORKERS = 2
const SIZES = [4 * 2 ** 10, 2 ** 20] as const
const THINKING_MS = 10

/** Uploads by PUT and by form, downloads and lists, checking all that comes back, for that long. */
export async function work(client: {
  readonly port: number
  readonly cookie: string
  readonly ms: number
}): Promise<Fare> {
  const { port, cookie, ms } = client
  const fare: Fare = { latencies: [], errors: [] }
  const agent = new Agent({ keepAlive: true })
  const until = performance.now() + ms
  const workers = Array.from({ length: WORKERS }, async (_, worker) => {
    for (let round = 0; performance.now() < until; round += 1) await visit(worker, round)
  })
  await Promise.all(workers)
  agent.destroy()
  return fare

  async function visit(worker: number, round: number): Promise<void> {
    const size = SIZES[round % SIZES.length] ?? 0
    const name = `good-${worker}-${size}`
    const content = contentOf(`${name}-${round}-${Date.now()}`, size)
    const isForm = round % 4 < 2
    const path = `/users/me/repo/${name}`
    await timed(`upload ${name}`, {
      request: {
        method: isForm ? 'POST' : 'PUT',
        path,
        body: isForm ? fileBody(content) : content,
        type: isForm ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/octet-stream',
      },
      isRight: (body) => sha256In(body) === sha256(content),
    })
    await timed(`download ${name}`, {
      request: { method: 'GET', path },
      isRight: (body) => body.equals(content),
    })
    await timed('list', {
      request: { method: 'GET', path: '/users/me/repo?prefix=good-' },
      isRight: (body) => namesOf(body).includes(name),
    })
  }

  async function timed(what: string, { request, isRight }: Step): Promise<void> {
    const { method, path, body, type } = request
    const began = performance.now()
    const headers = {
      cookie,
      ...(type !== undefined && { 'content-type': type }),
      ...(body !== undefined && { 'content-length': String(body.length) }),
    }
    const sent = { agent, port, method, path, headers }
    const outcome = await send({ ...sent, ...(body !== undefined && { body: [body] }) })
    const took = performance.now() - began
    const fault = faultOf(outcome, isRight)
    if (fault === undefined) fare.latencies.push(took)
    else fare.errors.push(`${what}: ${fault} after ${Math.round(took)} ms`)
    await delay(THINKING_MS)
  }
}

interface Step {
  readonly request: {
    readonly method: string
    readonly path: string
    readonly body?: Buffer
    readonly type?: string
  }
  readonly isRight: (body: Buffer) => boolean
}

function faultOf(outcome: Outcome, isRight: Step['isRight']): string | undefined {
  if (outcome.kind !== 'reply') return outcome.kind === 'lost' ? outcome.reason : outcome.kind
  const { status, body } = outcome
  if (status !== 200) return `${status} ${body?.toString().slice(0, 300)}`
  return body !== undefined && isRight(body) ? undefined : 'not the right content'
}

function sha256In(reply: Buffer): string {
  const { sha256 } = JSON.parse(reply.toString()) as { sha256: string }
  return sha256
}

function namesOf(list: Buffer): readonly string[] {
  const { files } = JSON.parse(list.toString()) as { files: readonly { name: string }[] }
  return files.map(({ name }) => name)
}
