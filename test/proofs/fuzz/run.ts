import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { JournalWatch, settle } from '../crash/settle.ts'
import { Tally } from '../crash/tally.ts'
import { createUser, openWorld, type Places, TIMES, type World } from '../crash/world.ts'
import { createAnswerCheck, type OpenApi } from '../../openapi/answer-check.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { type Health, HealthWatch } from './health.ts'
import { type FuzzFinding, FuzzTally } from './tally.ts'
import { Target } from './target.ts'
import { Worker, type WorkerOptions } from './worker.ts'

export interface FuzzOptions {
  readonly places: Places
  readonly seconds: number
  readonly seed: number
  /** Plays this one alone. */
  readonly onlyCase?: number
  /** How long a connection may take to end; 15 s when left out. */
  readonly timeoutMs?: number
  /** How long `/livez` may take to be answered, in milliseconds; 1 s when left out. */
  readonly mostStallMs?: number
  readonly onProgress?: (tally: FuzzTally) => void
  readonly onFinding?: (finding: FuzzFinding) => void
  /** Ends the cases early; what has been done by then is checked as ever. */
  readonly signal?: AbortSignal
  /** Comes between the clients and the service, to see whether they notice; returns the port that they take then. */
  readonly plant?: (target: Target, port: number) => Promise<number>
}

export interface FuzzFigures {
  readonly tally: FuzzTally
  readonly health: Health
  /** That the cases took. */
  readonly seconds: number
}

const DOCUMENT = new URL('../../../api/openapi.json', import.meta.url)

const WORKERS = 8

/** Clients that wait until the service ends a connection. */
const PATIENT_WORKERS = 8

/** Longer than the service waits for a head, for a body and on a connection that is kept. */
const LONGEST_SILENCE_MS = 110_000

/** Of a client that has nobody to wait for it. */
const SHORT_SILENCE_MS = 200

/** What buffers and caches may come to over the size when warm. */
const MOST_GROWTH_BYTES = 160 * 2 ** 20

/**
 * Sends mutated requests to a real instance of the service, and holds all that it answers and keeps against what may
 * be.
 */
export async function runFuzz(options: FuzzOptions): Promise<FuzzFigures> {
  const tally = new FuzzTally(options.onFinding)
  await using world = await openWorld(options.places)
  const adminToken = 'the-admin-token-of-the-fuzzer-0123456789'
  const ports = { public: await freePort(), admin: await freePort() }
  const stopped = new AbortController()
  const target = await Target.start({
    environment: {
      ...world.environment,
      PORT: String(ports.public),
      ADMIN_PORT: String(ports.admin),
      ADMIN_TOKEN: adminToken,
    },
    times: TIMES,
    onDeath: (text) => {
      tally.report({ number: undefined, text })
      stopped.abort()
    },
  })
  const clientPort = (await options.plant?.(target, ports.public)) ?? ports.public
  const health = new HealthWatch(target, ports.public)
  const agent = new Agent({ keepAlive: true })
  const users = await createUsers(world, WORKERS + PATIENT_WORKERS)
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8')) as OpenApi
  const checkAnswer = createAnswerCheck(document, '')
  const release = new AbortController()
  const worker = (user: (typeof users)[number]) =>
    new Worker({
      ...user,
      ports: { ...ports, public: clientPort },
      agent,
      adminToken,
      checkAnswer,
      seed: options.seed,
      tally,
      timeoutMs: options.timeoutMs ?? 15_000,
      silenceMs: LONGEST_SILENCE_MS,
      release: release.signal,
    } satisfies WorkerOptions)
  const progress = setInterval(() => options.onProgress?.(tally), PROGRESS_MS)
  const startedAt = performance.now()
  const journal = new JournalWatch(world)
  const watched = new AbortController()
  const watching = journal.watch(watched.signal)
  let seconds = 0
  try {
    const signals = [stopped.signal, ...(options.signal === undefined ? [] : [options.signal])]
    const plan = new Plan({
      options,
      signal: AbortSignal.any(signals),
      onWarm: () => health.onWarm(),
    })
    await plan.play(users.map(worker), release)
    seconds = (performance.now() - startedAt) / 1000
  } catch (error) {
    // What a service that is gone, or answers wrongly, leaves of a client.
    tally.report({ number: undefined, text: `a client gave up: ${String(error)}` })
  } finally {
    clearInterval(progress)
    agent.destroy()
    watched.abort()
    await watching
  }
  const seen = await health.stop()
  judgeHealth(seen, { tally, mostStallMs: options.mostStallMs ?? 1_000 })
  for (const text of target.warnings())
    tally.report({ number: undefined, text: `the service warned: ${text}` })
  const code = await target.stop()
  if (code !== 0) tally.report({ number: undefined, text: `the service ended with ${code}` })
  const settled = new Tally()
  await settle({
    world: { ...world, users: [world.users[0], ...users] },
    tally: settled,
    journal,
  })
  for (const { kind, text } of settled.violations)
    tally.report({ number: undefined, text: `${kind}: ${text}` })
  return { tally, health: seen, seconds }
}

const PROGRESS_MS = 10_000

type FuzzUser = Awaited<ReturnType<typeof createUser>>

async function createUsers({ service }: World, count: number): Promise<FuzzUser[]> {
  const users: FuzzUser[] = []
  for (let at = 0; at < count; at++) {
    users.push(await createUser(service, { name: `fuzz-${at}`, room: 0 }))
  }
  return users
}

interface PlanOptions {
  readonly options: FuzzOptions
  readonly signal: AbortSignal
  readonly onWarm: () => Promise<void>
}

/** Hands out the cases in turn until the time is over. */
class Plan {
  readonly #options: PlanOptions
  #next = 0

  constructor(options: PlanOptions) {
    this.#options = options
  }

  async play(workers: readonly Worker[], release: AbortController): Promise<void> {
    const { options, signal, onWarm } = this.#options
    for (const worker of workers) await worker.prepare()
    if (options.onlyCase !== undefined) {
      await workers[0]?.play(options.onlyCase)
      return
    }
    const patient = workers.slice(WORKERS)
    const waits: Promise<void>[] = []
    const over = AbortSignal.any([signal, AbortSignal.timeout(options.seconds * 1000)])
    const work = async (worker: Worker): Promise<void> => {
      while (!over.aborted) {
        const number = this.#next++
        const free = worker.case(number).ending === 'silence' ? patient.pop() : undefined
        if (free === undefined) await worker.play(number, { silenceMs: SHORT_SILENCE_MS })
        else waits.push(free.play(number).finally(() => patient.push(free)))
      }
    }
    const warming = delay((options.seconds * 1000) / 4, undefined, { signal: over }).then(
      onWarm,
      () => {},
    )
    try {
      await Promise.all(workers.slice(0, WORKERS).map(work))
    } finally {
      release.abort()
      await Promise.allSettled([...waits, warming])
    }
    await Promise.all(waits)
  }
}

function judgeHealth(
  health: Health,
  { tally, mostStallMs }: { tally: FuzzTally; mostStallMs: number },
): void {
  const { longestStallMs, residentAtStart, residentAtEnd } = health
  if (longestStallMs > mostStallMs) {
    tally.report({ number: undefined, text: `/livez took ${Math.round(longestStallMs)} ms` })
  }
  const growth = (residentAtEnd ?? 0) - (residentAtStart ?? residentAtEnd ?? 0)
  if (growth > MOST_GROWTH_BYTES)
    tally.report({ number: undefined, text: `memory grew by ${growth} bytes` })
}
