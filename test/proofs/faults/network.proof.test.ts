import { describe, expect, it } from 'vitest'
import { MIB } from '../../http/fixture.ts'
import type { Break, Fault as Disturbance, Way } from '../../support/faults/tcp-proxy.ts'
import {
  type FaultyServiceOptions,
  missing,
  openFaultyService,
  type Part,
  LONG,
  SHORT,
} from './faulty-service.ts'
import { Journey, LARGE, LARGEST, MIDDLE_DOWNLOAD, type Outcome } from './journey.ts'
import { expectSettled } from './settled.ts'

interface Fault {
  /** Begins with its rows of `test/FAULTS.md`. */
  readonly name: string
  readonly part: Part
  readonly fault: Disturbance
  /** Both, when left out. */
  readonly way?: Way
  /** How much of what goes to that part fails: an upload and a download need both parts. */
  readonly effect: 'none' | 'some' | 'all'
}

const RESET = { kind: 'reset' } as const
const SWALLOW = { kind: 'swallow' } as const
const END_LATE = { kind: 'end late', ms: 1000 } as const
const OFF = { kind: 'off' } as const
const STEADY = { kind: 'throttle', bytesPerSecond: 2_048_000 } as const

const breakAfter = (bytes: number): Break => {
  return {
    kind: 'break',
    bytes,
    client: 'fin',
    server: 'fin',
    isClientFirst: true,
    dropsPiece: false,
  }
}

const STORE: readonly Omit<Fault, 'part'>[] = [
  {
    name: 'is slow to answer',
    fault: { kind: 'delay', ms: 40, jitterMs: 40 },
    effect: 'none',
  },
  {
    name: 'has a thin line',
    fault: { kind: 'throttle', bytesPerSecond: 16_384_000 },
    way: 'request',
    effect: 'none',
  },
  {
    name: 'comes in small pieces',
    fault: { kind: 'slice', bytes: 4096 },
    effect: 'none',
  },
  {
    name: 'closes slowly',
    fault: END_LATE,
    effect: 'none',
  },
  {
    name: 'E03 resets every connection',
    fault: RESET,
    effect: 'all',
  },
  {
    name: 'E04 takes nothing in and never answers',
    fault: SWALLOW,
    way: 'request',
    effect: 'all',
  },
  {
    name: 'E04 E09 E10 E11 takes all in and never answers',
    fault: SWALLOW,
    way: 'answer',
    effect: 'all',
  },
  {
    name: 'E03 breaks off after 1 MiB has been sent to it',
    fault: breakAfter(MIB),
    way: 'request',
    effect: 'some',
  },
  {
    name: 'E09 E10 E11 breaks off in every answer',
    fault: breakAfter(100),
    way: 'answer',
    effect: 'all',
  },
  {
    name: 'E20 breaks off after it has sent 1 MiB',
    fault: breakAfter(MIB),
    way: 'answer',
    effect: 'some',
  },
  {
    name: 'E12 E13 E14 hears everything after it was given up',
    fault: { kind: 'delay', ms: 9000, jitterMs: 500 },
    way: 'request',
    effect: 'all',
  },
  { name: 'E02 is not there', fault: OFF, effect: 'all' },
]

const DATABASE: readonly Omit<Fault, 'part'>[] = [
  {
    name: 'is slow to answer',
    fault: { kind: 'delay', ms: 10, jitterMs: 10 },
    effect: 'none',
  },
  {
    name: 'has a thin line',
    fault: { kind: 'throttle', bytesPerSecond: 512_000 },
    effect: 'none',
  },
  {
    name: 'comes in small pieces',
    fault: { kind: 'slice', bytes: 100 },
    effect: 'none',
  },
  {
    name: 'closes slowly',
    fault: END_LATE,
    effect: 'none',
  },
  {
    name: 'F02 F03 resets every connection',
    fault: RESET,
    effect: 'all',
  },
  {
    name: 'F02 F03 takes nothing in and never answers',
    fault: SWALLOW,
    way: 'request',
    effect: 'all',
  },
  {
    name: 'F02 F03 F04 takes all in and never answers',
    fault: SWALLOW,
    way: 'answer',
    effect: 'all',
  },
  {
    name: 'F03 F04 breaks off after 4000 bytes to it',
    fault: breakAfter(4000),
    way: 'request',
    effect: 'some',
  },
  {
    name: 'F03 F04 breaks off after 2000 bytes from it',
    fault: breakAfter(2000),
    way: 'answer',
    effect: 'some',
  },
  { name: 'F02 F03 is not there', fault: OFF, effect: 'all' },
]

const FAULTS: readonly Fault[] = [
  ...STORE.map((fault) => of('the object store', fault)),
  ...DATABASE.map((fault) => of('the database', fault)),
]

/** Names the part behind the rows of the matrix. */
function of(part: Part, fault: Omit<Fault, 'part'>): Fault {
  const [rows = ''] = /^([A-Z]\d\d )*/.exec(fault.name) ?? []
  return { ...fault, part, name: `${rows}${part} ${fault.name.slice(rows.length)}` }
}

describe.skipIf(missing)('before, in the middle and at the end of uploads and downloads', () => {
  it.concurrent.each(FAULTS)('$name', async (fault) => {
    const { part, effect } = fault
    await using faulty = await openFaultyService(optionsOf(effect))
    const { service, sound, ways } = faulty
    const user = await sound.createUser(512 * MIB)
    // Only the database's own answer can leave open whether something has happened.
    const certain = part === 'the object store'
    const largest = certain ? LARGEST : LARGE
    const journey = new Journey({ service, user, certain, largest })
    await journey.prepare(sound)
    // The download that has begun must last until the fault comes; a reader that pauses would block the proxy.
    await ways['the object store'].disturb(STEADY, 'answer')
    const begun = await journey.begin()

    await ways[part].disturb(fault.fault, fault.way)
    await Promise.all([begun.finish(), journey.during()])
    await Promise.all(Object.values(ways).map((way) => way.heal()))

    expect(unexpected(journey.outcomes, fault)).toEqual([])
    await journey.expectHealed()
    const names = await journey.expectContents()
    await expectSettled(faulty, { user, names })
  })
})

function optionsOf(effect: Fault['effect']): FaultyServiceOptions {
  return effect === 'none' ? LONG : SHORT
}

/** What went another way than the fault should make it. */
function unexpected(outcomes: readonly Outcome[], { part, way, effect }: Fault): readonly string[] {
  const failed = outcomes.filter(({ ok }) => !ok).map(({ what }) => what)
  if (effect === 'none') return failed
  if (effect === 'some') return failed.length === 0 ? ['nothing failed'] : []
  const concerned = outcomes.filter(({ kind, what }) => {
    if (what === MIDDLE_DOWNLOAD) return part === 'the object store' && way !== 'request'
    return part === 'the database' || kind !== 'other'
  })
  return concerned.filter(({ ok }) => ok).map(({ what }) => what)
}
