import { parseArgs } from 'node:util'
import { areKnown, openPlaces } from './open-places.ts'
import { type DeviceFigures, runDevices } from './run-devices.ts'
import { type Figures, runCrash } from './run.ts'
import type { Tally } from './tally.ts'
import { runMain } from '../../support/service/run-main.ts'

const USAGE = `usage: npm run crash -- [--kills N] [--outages N] [--seed S] [--database sqlite|postgres] [--objects file|s3] [--devices]
  --kills N     kill an instance of the service N times while clients work (default 200)
  --outages N   kill the server of the object store N times as well (default 0)
  --seed S      decides what is written and when a kill happens (default random); timing still makes each run differ
  --database    sqlite with one instance (the default), or postgres with two
  --objects     file (the default), or s3: MinIO, or the server that TEST_S3_SERVER names
  --devices     N rounds in which two devices with full shares send 40 uploads each at once to two instances,
                and one of these is killed`

await runMain(USAGE, main)

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const devices = { type: 'boolean' } as const
  const options = { kills: text, outages: text, seed: text, database: text, objects: text, devices }
  const { values } = parseArgs({ args: [...args], options })
  const { kills: times = '200', database = 'sqlite', objects = 'file' } = values
  const asked = { database, objects }
  const [kills, storeKills] = [Number(times), Number(values.outages ?? 0)]
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30))
  if (!areKnown(asked) || !Number.isInteger(seed) || ![kills, storeKills].every(isCount)) {
    console.error(USAGE)
    return 2
  }
  console.log(`${kills} kills on ${database} and ${objects}, seed ${seed}`)
  await using opened = new AsyncDisposableStack()
  const ending = new AbortController()
  // Ctrl-C ends the kills, but the checks still run.
  process.once('SIGINT', () => ending.abort())
  const places = await openPlaces(asked, opened)
  if (values.devices === true) {
    const { signal } = ending
    const onRound = (tally: Tally) => {
      if (tally.kills % 10 === 0) console.log(progressOf(tally))
    }
    return printDevices(await runDevices({ places, rounds: kills, seed, onRound, signal }))
  }
  const figures = await runCrash({
    places,
    kills,
    storeKills,
    seed,
    signal: ending.signal,
    onProgress: (tally) => console.log(progressOf(tally)),
  })
  print(figures)
  return figures.tally.violations.length === 0 ? 0 : 1
}

function progressOf(tally: Tally): string {
  const { kills, requests, acknowledgedUploads, unknownOutcomes, violations } = tally
  const counts = `${kills} kills, ${requests} requests, ${acknowledgedUploads} acknowledged uploads`
  return `${counts}, ${unknownOutcomes} unknown outcomes, ${violations.length} violations`
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number >= 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function printDevices({ tally, evicted, taken, sweeps, seconds }: DeviceFigures): number {
  printFigures(tally, {
    'rounds, each with a kill': tally.kills,
    requests: tally.requests,
    'acknowledged uploads': tally.acknowledgedUploads,
    'refused by the share': tally.refusedUploads,
    'files evicted': evicted,
    'files replaced by the other device': taken,
    'unknown outcomes': tally.unknownOutcomes,
    'answers 503': tally.unavailable,
    'answers 423': tally.busy,
    'checked quotas': tally.checkedQuotas,
    'checked changes': tally.checkedChanges,
    sweeps,
    violations: tally.violations.length,
    seconds: Math.round(seconds),
  })
  return tally.violations.length === 0 ? 0 : 1
}

function print({ tally, sweeps, seconds }: Figures): void {
  printFigures(tally, {
    kills: tally.kills,
    'kills right after the last byte of an upload': tally.aimedKills,
    'kills of the server of the object store': tally.storeKills,
    'kills by a full heap': tally.heapKills,
    'kills at a moment of a resumable upload': sum(Object.values(tally.momentKills)),
    ...tally.momentKills,
    requests: tally.requests,
    'requests of tus': tally.tusRequests,
    'appends, HEADs': `${tally.appends}, ${tally.heads}`,
    'requests of tus that broke off or were refused for now': tally.interruptions,
    'responses 423': tally.busy,
    'offsets checked': tally.checkedOffsets,
    'acknowledged uploads': tally.acknowledgedUploads,
    'resumable uploads finished': tally.finishedUploads.size,
    'resumable uploads lost by a store whose completion was cut off': tally.cutCompletions,
    'resumable uploads cancelled': tally.cancelledUploads,
    'resumable uploads that ended otherwise': JSON.stringify(tally.ended),
    'uploads refused because of the capacity or garbage': tally.refusedUploads,
    restores: tally.restores,
    'folders moved or deleted': tally.changedFolders,
    'unknown outcomes': tally.unknownOutcomes,
    'answers 503': tally.unavailable,
    'checked reads': tally.checkedReads,
    'checked quotas': tally.checkedQuotas,
    'checked changes': tally.checkedChanges,
    'changes delivered to the receiver': tally.deliveredChanges,
    lost: tally.count('lost'),
    altered: tally.count('altered'),
    'quota drift': tally.count('quota'),
    [`orphans after ${sweeps} sweeps`]: tally.count('orphan'),
    'faults of feeds': tally.count('feed'),
    'other violations': tally.count('other'),
    seconds: Math.round(seconds),
  })
}

function printFigures(tally: Tally, figures: Readonly<Record<string, string | number>>): void {
  for (const { kind, text } of tally.violations.slice(0, 50)) console.error(`${kind}: ${text}`)
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${figure}`)
}
