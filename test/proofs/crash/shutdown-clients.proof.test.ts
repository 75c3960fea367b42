import { Agent } from 'node:http'
import { describe, expect, it } from 'vitest'
import { forTest } from '../../support/for-test.ts'
import { type Demo, startDemo } from '../../support/service/demo.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { createPlace } from '../../support/service/production-service.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import { exitOf } from '../../support/service/program.ts'
import { type Outcome, type Request, send } from './request.ts'

const CLIENTS = 64
const ROUNDS = Number(process.env['SHUTDOWN_ROUNDS'] ?? 2)

describe('SIGTERM under 64 clients without a balancer, who write until nobody listens', () => {
  it.each([
    ['with local files', async () => ({})],
    ['with PostgreSQL, MinIO and REUSE_PORT', productionSettings],
  ])(
    'leaves no client in doubt about a change that it has sent (G01): %s',
    async (_what, settings) => {
      const rounds: Round[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const environment = { LOG_LEVEL: 'warn', ...(await settings()) }
        const demo = await startDemo({ environment, opened: forTest() })
        rounds.push(await stopUnderLoad(demo))
      }
      console.info(rounds.map(({ answered, lost }) => `${answered} answered, ${lost.length} lost`))
      for (const { answered, unexpected } of rounds) {
        expect(unexpected).toEqual([])
        expect(answered).toBeGreaterThan(CLIENTS)
      }
      // A client that connects in the very moment of the close is beyond TCP's help.
      const lost = rounds.flatMap((round) => round.lost)
      expect(lost.slice(ROUNDS)).toEqual([])
    },
  )
})

async function productionSettings(): Promise<Readonly<Record<string, string>>> {
  const place = await createPlace()
  forTest().defer(() => place.remove())
  return { ...place.environment, REUSE_PORT: 'true', PORT: String(await freePort()) }
}

interface Round {
  /** Requests after the signal that got a whole answer. */
  answered: number
  /** Why each request got none, of those of which nobody can tell whether they were done. */
  readonly lost: string[]
  /** Answers that should not be. */
  readonly unexpected: string[]
}

async function stopUnderLoad(demo: Demo): Promise<Round> {
  const round: Round = { answered: 0, lost: [], unexpected: [] }
  const clients = Array.from({ length: CLIENTS }, (_, at) => write(demo, { at, round }))
  await expect.poll(() => round.answered, { timeout: 60_000 }).toBeGreaterThan(2 * CLIENTS)
  round.answered = 0
  demo.process.kill('SIGTERM')
  await Promise.all(clients)
  expect(await exitOf(demo.process)).toBe(0)
  return round
}

/** Changes files of its own on a kept connection, without a pause, until nobody listens. */
async function write(
  { url, cookie }: Demo,
  { at, round }: { readonly at: number; readonly round: Round },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const port = Number(new URL(url).port)
  const form = fileBody(Buffer.alloc(1000, at))
  const path = `/users/me/repo/file-${at}`
  const steps: readonly Omit<Request, 'agent' | 'port'>[] = [
    { method: 'PUT', path, headers: { 'content-length': '1000' }, body: [Buffer.alloc(1000, at)] },
    { method: 'POST', path, headers: formHeaders(form), body: [form] },
    { method: 'DELETE', path },
  ]
  try {
    for (let turn = 0; ; turn++) {
      const step = steps[turn % steps.length] ?? expect.unreachable()
      const outcome = await send({ ...step, agent, port, headers: { ...step.headers, cookie } })
      if (outcome.kind === 'unsent') return
      note(outcome, { round, what: step.method })
    }
  } finally {
    agent.destroy()
  }
}

function note(
  outcome: Exclude<Outcome, { kind: 'unsent' }>,
  { round, what }: { readonly round: Round; readonly what: string },
): void {
  if (outcome.kind === 'lost') {
    const connection = outcome.onNewConnection ? 'a new' : 'a kept'
    round.lost.push(`${what}: ${outcome.reason} on ${connection} connection`)
  } else if (outcome.body === undefined) {
    round.lost.push(`${what}: half an answer`)
  } else {
    round.answered += 1
    if (![200, 204, 503].includes(outcome.status)) {
      round.unexpected.push(`${what}: ${outcome.status} ${outcome.body.toString()}`)
    }
  }
}

function formHeaders({ length }: Buffer): Record<string, string> {
  return {
    'content-type': 'multipart/form-data; boundary=XBOUNDARY',
    'content-length': String(length),
  }
}
