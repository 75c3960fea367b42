import { describe, expect, it } from 'vitest'
import { MIB } from '../../http/fixture.ts'
import type { Toxic } from '../../support/faults/toxiproxy.ts'
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
  readonly toxic: Toxic
  /** How much of what goes to that part fails: an upload and a download need both parts. */
  readonly effect: 'none' | 'some' | 'all'
}

/** Of a journey among others, on a busy machine; on a quiet one it takes a tenth. */
const TIMEOUT_MS = 300_000

const HANG = { timeout: 0 }

const STEADY: Toxic = { type: 'bandwidth', stream: 'downstream', attributes: { rate: 2048 } }

const STORE: readonly Omit<Fault, 'part'>[] = [
  {
    name: 'is slow to answer',
    toxic: { type: 'latency', attributes: { latency: 40, jitter: 40 } },
    effect: 'none',
  },
  {
    name: 'has a thin line',
    toxic: { type: 'bandwidth', stream: 'upstream', attributes: { rate: 16_384 } },
    effect: 'none',
  },
  {
    name: 'comes in small pieces',
    toxic: { type: 'slicer', attributes: { average_size: 4096, size_variation: 2048, delay: 10 } },
    effect: 'none',
  },
  {
    name: 'closes slowly',
    toxic: { type: 'slow_close', attributes: { delay: 1000 } },
    effect: 'none',
  },
  {
    name: 'E03 resets every connection',
    toxic: { type: 'reset_peer', attributes: HANG },
    effect: 'all',
  },
  {
    name: 'E04 takes nothing in and never answers',
    toxic: { type: 'timeout', stream: 'upstream', attributes: HANG },
    effect: 'all',
  },
  {
    name: 'E04 E09 E10 E11 takes all in and never answers',
    toxic: { type: 'timeout', stream: 'downstream', attributes: HANG },
    effect: 'all',
  },
  {
    name: 'E03 breaks off after 1 MiB has been sent to it',
    toxic: { type: 'limit_data', stream: 'upstream', attributes: { bytes: MIB } },
    effect: 'some',
  },
  {
    name: 'E09 E10 E11 breaks off in every answer',
    toxic: { type: 'limit_data', stream: 'downstream', attributes: { bytes: 100 } },
    effect: 'all',
  },
  {
    name: 'E20 breaks off after it has sent 1 MiB',
    toxic: { type: 'limit_data', stream: 'downstream', attributes: { bytes: MIB } },
    effect: 'some',
  },
  {
    name: 'E12 E13 E14 hears everything after it was given up',
    toxic: { type: 'latency', stream: 'upstream', attributes: { latency: 9000, jitter: 500 } },
    effect: 'all',
  },
  { name: 'E02 is not there', toxic: { type: 'down' }, effect: 'all' },
]

const DATABASE: readonly Omit<Fault, 'part'>[] = [
  {
    name: 'is slow to answer',
    toxic: { type: 'latency', attributes: { latency: 10, jitter: 10 } },
    effect: 'none',
  },
  {
    name: 'has a thin line',
    toxic: { type: 'bandwidth', attributes: { rate: 512 } },
    effect: 'none',
  },
  {
    name: 'comes in small pieces',
    toxic: { type: 'slicer', attributes: { average_size: 100, size_variation: 50, delay: 10 } },
    effect: 'none',
  },
  {
    name: 'closes slowly',
    toxic: { type: 'slow_close', attributes: { delay: 1000 } },
    effect: 'none',
  },
  {
    name: 'F02 F03 resets every connection',
    toxic: { type: 'reset_peer', attributes: HANG },
    effect: 'all',
  },
  {
    name: 'F02 F03 takes nothing in and never answers',
    toxic: { type: 'timeout', stream: 'upstream', attributes: HANG },
    effect: 'all',
  },
  {
    name: 'F02 F03 F04 takes all in and never answers',
    toxic: { type: 'timeout', stream: 'downstream', attributes: HANG },
    effect: 'all',
  },
  {
    name: 'F03 F04 breaks off after 4000 bytes to it',
    toxic: { type: 'limit_data', stream: 'upstream', attributes: { bytes: 4000 } },
    effect: 'some',
  },
  {
    name: 'F03 F04 breaks off after 2000 bytes from it',
    toxic: { type: 'limit_data', stream: 'downstream', attributes: { bytes: 2000 } },
    effect: 'some',
  },
  { name: 'F02 F03 is not there', toxic: { type: 'down' }, effect: 'all' },
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
  it.concurrent.each(FAULTS)(
    '$name',
    async ({ part, toxic, effect }) => {
      await using faulty = await openFaultyService(optionsOf(effect))
      const { service, sound, ways } = faulty
      const user = await sound.createUser(512 * MIB)
      // Only the database's own answer can leave open whether something has happened.
      const certain = part === 'the object store'
      const largest = certain ? LARGEST : LARGE
      const journey = new Journey({ service, user, certain, largest })
      await journey.prepare(sound)
      // The download that has begun must last until the fault comes; a reader that pauses would block the proxy.
      await ways['the object store'].disturb(STEADY)
      const begun = await journey.begin()

      await ways[part].disturb(toxic)
      await Promise.all([begun.finish(), journey.during()])
      await Promise.all(Object.values(ways).map((way) => way.heal()))

      expect(unexpected(journey.outcomes, { part, toxic, effect })).toEqual([])
      await journey.expectHealed()
      const names = await journey.expectContents()
      await expectSettled(faulty, { user, names })
    },
    TIMEOUT_MS,
  )
})

function optionsOf(effect: Fault['effect']): FaultyServiceOptions {
  return effect === 'none' ? LONG : SHORT
}

/** What went another way than the fault should make it. */
function unexpected(
  outcomes: readonly Outcome[],
  { part, toxic, effect }: Pick<Fault, 'part' | 'toxic' | 'effect'>,
): readonly string[] {
  const failed = outcomes.filter(({ ok }) => !ok).map(({ what }) => what)
  if (effect === 'none') return failed
  if (effect === 'some') return failed.length === 0 ? ['nothing failed'] : []
  const concerned = outcomes.filter(({ kind, what }) => {
    if (what === MIDDLE_DOWNLOAD) return part === 'the object store' && toxic.stream !== 'upstream'
    return part === 'the database' || kind !== 'other'
  })
  return concerned.filter(({ ok }) => ok).map(({ what }) => what)
}
