import { parseArgs } from 'node:util'
import { areKnown, openPlaces } from '../crash/open-places.ts'
import { CROWDS, type HostileFigures, MOST_RESIDENT, type Round, runHostile } from './run.ts'
import { faultsOf, p50, p99, slowdowns } from './verdict.ts'
import { runMain } from '../../support/service/run-main.ts'

const USAGE = `usage: npm run hostile -- [options]
  --rounds N    measure a well-behaved client N times per crowd, alone and beside the crowd (default 3)
  --seconds S   duration of each measurement (default 10)
  --crowd NAME  only this crowd
  --database    sqlite (the default), or postgres
  --objects     file (the default), or s3: MinIO, or the server that TEST_S3_SERVER names`

await runMain(USAGE, main)

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const options = { rounds: text, seconds: text, crowd: text, database: text, objects: text }
  const { values } = parseArgs({ args: [...args], options })
  const { database = 'sqlite', objects = 'file' } = values
  const asked = { database, objects }
  const rounds = Number(values.rounds ?? 3)
  const seconds = Number(values.seconds ?? 10)
  const { crowd = '' } = values
  const chosen = Object.entries(CROWDS).filter(([name]) => crowd === '' || name === crowd)
  if (
    chosen.length === 0 ||
    !areKnown(asked) ||
    !Number.isInteger(rounds) ||
    rounds < 1 ||
    !(seconds > 0)
  ) {
    console.error(USAGE)
    return 2
  }
  console.log(`On ${database} and ${objects}`)
  for (const [name, size] of chosen) {
    const kinds = Object.entries(size).filter(([, count]) => count > 0)
    console.log(`${name}: ${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
  }
  await using opened = new AsyncDisposableStack()
  const figures = await runHostile({
    places: await openPlaces(asked, opened),
    crowds: Object.fromEntries(chosen),
    rounds,
    roundMs: seconds * 1000,
    onRound: printRound,
  })
  return print(figures)
}

function printRound({ name, alone, beside, crowd }: Round): void {
  console.log(`\n${name}`)
  for (const [name, fare] of Object.entries({ alone, beside })) {
    const { latencies, errors } = fare
    const times = `p50 ${p50(fare).toFixed(1)} ms, p99 ${p99(fare).toFixed(1)} ms`
    console.log(`${name}: ${latencies.length} requests, ${errors.length} errors, ${times}`)
  }
  const { answers, cpuSeconds } = crowd
  console.log(
    `the crowd used ${cpuSeconds.toFixed(1)} s of CPU and got these answers: ${JSON.stringify(answers)}`,
  )
}

function print(figures: HostileFigures): number {
  const { rounds, resident } = figures
  const faults = faultsOf(figures)
  for (const fault of faults.slice(0, 50)) console.error(fault)
  console.log('\nmedian ratio of p99 beside each crowd to p99 alone:')
  for (const [name, ratio] of slowdowns(rounds)) console.log(`${name}: ${ratio.toFixed(2)}`)
  const alone = rounds.map(({ alone }) => p99(alone))
  const [least, most] = [Math.min(...alone), Math.max(...alone)]
  console.log(
    `p99 alone: ${least.toFixed(1)} to ${most.toFixed(1)} ms, which is the noise of the machine`,
  )
  for (const [when, bytes] of Object.entries({ ...resident, bound: MOST_RESIDENT })) {
    console.log(`resident memory, ${when}: ${Math.round(bytes / 10 ** 6)} MB`)
  }
  console.log(faults.length === 0 ? 'verdict: no faults' : `verdict: ${faults.length} faults`)
  return faults.length === 0 ? 0 : 1
}
