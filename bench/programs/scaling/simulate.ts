import { createRandom } from '../../../test/proofs/simulation/plan/random.ts'
import { percentileOf } from '../../measure/statistics.ts'

/** Where operations take CPU time. Each instance of the service has one thread, and each request goes to one of them. */
export type Station = 'service' | 'database' | 'object_store' | 'generator'

/** CPU time at a station, or without one a wait that keeps no core busy. */
export interface Step {
  readonly at?: Station
  readonly ms: number
}

export interface Operation {
  readonly steps: readonly Step[]
  /** How often it is chosen, compared with the others. */
  readonly weight: number
}

export interface Simulation {
  readonly operations: readonly Operation[]
  /** How many steps each station works on at a time. */
  readonly capacity: Readonly<Record<Station, number>>
  /** The cores of the one machine that has all stations. If omitted, each station has as many as it needs. */
  readonly cores?: number
  /** Clients that wait for each answer before they ask again, or requests that come by chance, whatever waits already. */
  readonly arrivals: { readonly clients: number } | { readonly perSecond: number }
  /** How many operations are simulated. The first tenth does not count. */
  readonly count: number
  readonly seed: number
}

export interface Outcome {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The share of its capacity that each station was busy. */
  readonly busy: Readonly<Record<Station, number>>
}

const STATIONS = ['service', 'database', 'object_store', 'generator'] as const

/**
 * Simulates operations one event after the other. Each step takes an exponentially distributed time with the given mean,
 * and waits its turn for its station, and for a core if all share a machine.
 */
export function simulate(simulation: Simulation): Outcome {
  const { operations, capacity, cores = Infinity, arrivals, count, seed } = simulation
  const random = createRandom(seed)
  const queues = new Map(
    STATIONS.flatMap((station): [string, Queue][] => {
      // Instances do not share their waiting requests as the cores of a server do.
      if (station !== 'service') return [[station, { free: capacity[station], waiting: [] }]]
      const instances = Array.from({ length: capacity.service }, (_, at) => at)
      return instances.map((at) => [`service ${at}`, { free: 1, waiting: [] }])
    }),
  )
  const machine: Queue = { free: cores, waiting: [] }
  const events = new Timeline()
  const busyMs: Record<Station, number> = {
    service: 0,
    database: 0,
    object_store: 0,
    generator: 0,
  }
  const latencies: number[] = []
  const skipped = Math.floor(count / 10)
  let startedAt = 0
  let begun = 0
  let ended = 0
  let now = 0
  const exponential = (mean: number): number => -mean * Math.log(1 - random.next())

  function begin(): void {
    if (begun >= count) return
    begun += 1
    const instance = random.below(capacity.service)
    go(pick(operations, random.next()).steps, 0, { instance, beganAt: now })
  }

  function go(steps: readonly Step[], at: number, call: Call): void {
    const step = steps[at]
    if (step === undefined) return end(call)
    const next = (): void => go(steps, at + 1, call)
    const ms = exponential(step.ms)
    if (step.at === undefined) return events.add(now + ms, next)
    const station = step.at
    const queue = queues.get(station === 'service' ? `service ${call.instance}` : station)
    if (queue === undefined) return
    take(queue, () =>
      take(machine, () => {
        busyMs[station] += ms
        events.add(now + ms, () => {
          release(machine)
          release(queue)
          next()
        })
      }),
    )
  }

  function end({ beganAt }: Call): void {
    ended += 1
    if (ended === skipped) startedAt = now
    if (ended > skipped) latencies.push(now - beganAt)
    if ('clients' in arrivals) begin()
  }

  function arrive(perSecond: number): void {
    begin()
    if (begun < count) events.add(now + exponential(1000 / perSecond), () => arrive(perSecond))
  }

  if ('clients' in arrivals) for (let at = 0; at < arrivals.clients; at += 1) begin()
  else arrive(arrivals.perSecond)
  for (let event = events.next(); event !== undefined; event = events.next()) {
    now = event.at
    event.run()
  }
  const busy = STATIONS.map((station) => [station, busyMs[station] / now / capacity[station]])
  return {
    perSecond: (1000 * latencies.length) / (now - startedAt),
    p50Ms: percentileOf(latencies, 50) ?? 0,
    p99Ms: percentileOf(latencies, 99) ?? 0,
    busy: Object.fromEntries(busy) as Outcome['busy'],
  }
}

interface Call {
  readonly instance: number
  readonly beganAt: number
}

interface Queue {
  free: number
  readonly waiting: (() => void)[]
}

function take(queue: Queue, run: () => void): void {
  if (queue.free === 0) queue.waiting.push(run)
  else {
    queue.free -= 1
    run()
  }
}

function release(queue: Queue): void {
  const next = queue.waiting.shift()
  if (next === undefined) queue.free += 1
  else next()
}

function pick(operations: readonly Operation[], chance: number): Operation {
  const total = operations.reduce((sum, { weight }) => sum + weight, 0)
  let left = chance * total
  const picked = operations.find(({ weight }) => (left -= weight) < 0) ?? operations.at(-1)
  if (picked === undefined) throw new RangeError('A simulation needs operations.')
  return picked
}

interface Event {
  readonly at: number
  readonly run: () => void
}

/** Events in the order of their times: a binary heap. */
class Timeline {
  readonly #heap: Event[] = []

  add(at: number, run: () => void): void {
    const heap = this.#heap
    let hole = heap.length
    heap.push({ at, run })
    for (;;) {
      const above = (hole - 1) >> 1
      const parent = heap[above]
      if (hole === 0 || parent === undefined || parent.at <= at) break
      heap[hole] = parent
      hole = above
    }
    heap[hole] = { at, run }
  }

  next(): Event | undefined {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    let hole = 0
    for (;;) {
      const left = heap[2 * hole + 1]
      const right = heap[2 * hole + 2]
      if (left === undefined) break
      const isLeft = right === undefined || left.at <= right.at
      const child = isLeft ? left : right
      if (last.at <= child.at) break
      heap[hole] = child
      hole = 2 * hole + (isLeft ? 1 : 2)
    }
    heap[hole] = last
    return first
  }
}
