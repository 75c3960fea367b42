import { parseArgs } from 'node:util'
import { areKnown, openPlaces } from './open-places.ts'
import { type Figures, runCrash } from './run.ts'
import type { Tally } from './tally.ts'
import { runMain } from '../../support/service/run-main.ts'

const USAGE = `usage: npm run crash -- [--kills N] [--outages N] [--seed S] [--database sqlite|postgres] [--objects file|s3]
  --kills N     kill an instance of the service N times while clients work (default 200)
  --outages N   kill the server of the object store N times as well (default 0)
  --seed S      decides what is written and when a kill happens (default random); timing still makes each run differ
  --database    sqlite with one instance (the default), or postgres with two
  --objects     file (the default), or s3: MinIO, or the server that TEST_S3_SERVER names`

await runMain(USAGE, main)

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const options = { kills: text, outages: text, seed: text, database: text, objects: text }
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
  const figures = await runCrash({
    places: await openPlaces(asked, opened),
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

function print({ tally, sweeps, seconds }: Figures): void {
  for (const { kind, text } of tally.violations.slice(0, 50)) console.error(`${kind}: ${text}`)
  const figures = {
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
  }
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${figure}`)
}
