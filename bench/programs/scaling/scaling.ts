import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { Figures } from '../../measure/figures.ts'
import { type Costs, type Kind, operationOf } from './costs.ts'
import { simulate } from './simulate.ts'
import { createProgram } from '../../program.ts'
import { createServers } from '../../setup/servers.ts'
import { openStack, type Stack } from '../../setup/stack.ts'
import { serviceDownloads } from '../../sides/downloads.ts'
import { serviceUploads } from '../../sides/uploads.ts'

/** Of a file of 1 MiB, measured with --check, as docs/scaling.md says. */
const MEASURED: Readonly<Record<Kind, Costs>> = {
  upload: { service: 3.57, database: 1.09, object_store: 5.22, generator: 0, wait: 4.72 },
  download: { service: 1.02, database: 0.12, object_store: 1.03, generator: 0, wait: 0.02 },
}

/** How busy the cores of database and store may be. */
const MOST_BUSY = 0.5
/** Clients that keep this machine busy. */
const BUSY_CLIENTS = 16
/** How much longer the slowest hundredth may take than if nothing else was asked. */
const MOST_SLOWER = 2

const KINDS = ['upload', 'download'] as const

/**
 * What a deployment on PostgreSQL and S3 can carry, by a simulation from measured costs. Prints what 1, 10 and 100
 * million users need; with `check` it measures the costs on this machine, and compares the simulation of this machine
 * with what more clients get of it.
 */
export const scaling = createProgram({
  title:
    'what 1, 10 and 100 million users need, by simulation; --check compares one with this machine',
  options: { check: false, seconds: 5 },
  run: async ({ check, seconds }) => {
    if (check) return await compareAll(seconds)
    for (const millions of [1, 10, 100]) plan(millions)
  },
})

/**
 * Prints the fewest instances with which the busiest hour is served well, one instance of which may fail: every user
 * uploads one file and downloads four files a day, and the busiest hour has three times the average load.
 */
function plan(millions: number): void {
  const uploads = ((millions * 1e6) / 86_400) * 3
  const operations = [
    operationOf('upload', MEASURED.upload, 1),
    operationOf('download', MEASURED.download, 4),
  ]
  const perSecond = 5 * uploads
  const needed = (of: 'service' | 'database' | 'object_store'): number =>
    (uploads * (MEASURED.upload[of] + 4 * MEASURED.download[of])) / 1000
  const database = Math.ceil(needed('database') / MOST_BUSY)
  const objectStore = Math.ceil(needed('object_store') / MOST_BUSY)
  const outcomeOf = (service: number) =>
    simulate({
      operations,
      capacity: { service, database, object_store: objectStore, generator: 1 },
      arrivals: { perSecond },
      count: 100_000,
      seed: 1,
    })
  const idle = simulate({
    operations,
    capacity: { service: 64, database: 64, object_store: 64, generator: 64 },
    arrivals: { perSecond: 1 },
    count: 20_000,
    seed: 1,
  })
  let instances = Math.ceil(needed('service'))
  while (outcomeOf(instances).p99Ms > MOST_SLOWER * idle.p99Ms) instances += 1
  const { p50Ms, p99Ms } = outcomeOf(instances + 1)
  const cells = [
    `${millions} million`,
    `${uploads.toFixed(0)} and ${(4 * uploads).toFixed(0)}`,
    `${instances} and 1`,
    String(database),
    String(objectStore),
    `${p50Ms.toFixed(1)} ms`,
    `${p99Ms.toFixed(0)} ms`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

/** Takes the costs from one client and from 16, and the simulation's word for all others. */
async function compareAll(seconds: number): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const stack = opened.use(
    await openStack({ name: 'postgres-minio', servers: createServers(opened) }),
  )
  for (const bytes of [4 * 2 ** 10, 2 ** 20]) {
    for (const kind of KINDS) {
      await compare({ stack, kind, content: randomBytes(bytes), seconds })
    }
  }
}

interface Comparison {
  readonly stack: Stack
  readonly kind: Kind
  readonly content: Buffer
  readonly seconds: number
}

/** Measures an operation with one client and with many, and prints what the simulation expects beside it. */
async function compare({ stack, kind, content, seconds }: Comparison): Promise<void> {
  let round = 0
  const measured = async (connections: number): Promise<Figures> => {
    const load = { stack, content, seconds, connections }
    const side =
      kind === 'upload' ? serviceUploads({ ...load, kind: 'form' }) : await serviceDownloads(load)
    round += 1
    return side.measure(round * 1000 + content.length)
  }
  await measured(BUSY_CLIENTS)
  const alone = await measured(1)
  const busy = await measured(BUSY_CLIENTS)
  const costs = { ...cpuOf(busy), wait: Math.max(0, meanMs(alone) - total(cpuOf(busy))) }
  const words = Object.entries(costs).map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`)
  console.log(`\n${kind}, ${content.length} bytes: ${words.join(', ')}\n`)
  console.log('| clients | a second | simulated | p50 | simulated | p99 | simulated |')
  console.log('|---|---|---|---|---|---|---|')
  for (const clients of [1, 4, BUSY_CLIENTS, 64]) {
    const found = clients === BUSY_CLIENTS ? busy : await measured(clients)
    const expected = simulate({
      operations: [operationOf(kind, costs)],
      capacity: { service: 1, database: 2, object_store: 2, generator: 1 },
      cores: availableParallelism(),
      arrivals: { clients },
      count: 20_000,
      seed: 1,
    })
    const cells = [
      clients,
      (found.per_second ?? 0).toFixed(0),
      expected.perSecond.toFixed(0),
      `${found.p50_ms?.toFixed(1)} ms`,
      `${expected.p50Ms.toFixed(1)} ms`,
      `${found.p99_ms?.toFixed(1)} ms`,
      `${expected.p99Ms.toFixed(1)} ms`,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function cpuOf(figures: Figures): Omit<Costs, 'wait'> {
  return {
    service: figures.service_cpu_ms ?? 0,
    database: figures.database_cpu_ms ?? 0,
    object_store: figures.object_store_cpu_ms ?? 0,
    generator: (figures.generator_cpu_share ?? 0) * (figures.seconds ?? 0) * 1000,
  }
}

function total(cpu: Omit<Costs, 'wait'>): number {
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0)
}

function meanMs({ seconds = 0 }: Figures): number {
  return seconds * 1000
}
