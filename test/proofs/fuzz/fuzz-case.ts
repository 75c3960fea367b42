import { createRandom, type Random } from '../simulation/plan/random.ts'
import { mutate } from './mutations.ts'
import type { Subject } from './subject.ts'
import { downloadOf, pickRequest, type ValidRequest } from './valid-requests.ts'

/** What goes over one connection, and how. */
export interface FuzzCase {
  readonly number: number
  readonly listener: ValidRequest['listener']
  /** In writes of their own. */
  readonly pieces: readonly Buffer[]
  readonly pauseMs: number
  /**
   * A valid request on the same connection: none, right behind the mutated bytes, or when these seem to be answered.
   */
  readonly following: 'none' | 'pipelined' | 'after'
  /** The valid request. */
  readonly download: Buffer
  /** What the client does when all is sent; `silence` is to wait for the service to end it. */
  readonly ending: 'half-close' | 'reset' | 'silence'
}

/** The case of that number in the run of that seed; the same at every call but for the subject's secrets. */
export function buildCase(options: { seed: number; number: number; subject: Subject }): FuzzCase {
  const { seed, number, subject } = options
  const random = createRandom(
    Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b),
  )
  const { listener, bytes } = pickRequest(subject, random)
  const download = downloadOf(subject)
  const mutated = random.chance(0.03)
    ? bytes
    : random.chance(0.01)
      ? Buffer.alloc(0)
      : mutate(bytes, random)
  const following =
    listener === 'admin' ? 'none' : random.pick(['none', 'pipelined', 'after', 'after'] as const)
  const sent = following === 'pipelined' ? Buffer.concat([mutated, download]) : mutated
  const { pieces, pauseMs } = cut(sent, random)
  const end = random.next()
  const ending = end < 0.02 ? 'silence' : end < 0.08 ? 'reset' : 'half-close'
  return { number, listener, pieces, pauseMs, following, download, ending }
}

/** Mostly one write; else a few, or a byte at a time at first. */
function cut(bytes: Buffer, random: Random): Pick<FuzzCase, 'pieces' | 'pauseMs'> {
  if (random.chance(0.6)) return { pieces: [bytes], pauseMs: 0 }
  const trickles = random.chance(0.1)
  const cuts = trickles
    ? Array.from({ length: Math.min(MOST_TRICKLED, bytes.length) }, (_, at) => at + random.below(2))
    : Array.from({ length: 1 + random.below(5) }, () => random.below(bytes.length + 1))
  const places = [0, ...cuts.sort((one, other) => one - other), bytes.length]
  const pieces = places.slice(1).map((to, at) => bytes.subarray(places[at] ?? 0, to))
  return { pieces: pieces.filter(({ length }) => length > 0), pauseMs: random.pick([0, 1, 3]) }
}

const MOST_TRICKLED = 150
