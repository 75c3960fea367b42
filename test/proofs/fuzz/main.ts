import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { areKnown, openPlaces } from '../crash/open-places.ts'
import { describeFigures } from './figures.ts'
import { runFuzz } from './run.ts'
import type { FuzzTally } from './tally.ts'
import { runMain } from '../../support/service/run-main.ts'

const USAGE = `usage: npm run fuzz -- [--seconds N] [--seed S] [--case N] [--database D] [--objects O]
  --seconds N   send mutated requests for N seconds (default 60)
  --seed S      decides which requests are sent (default random)
  --case N      send only the request with this number
  --database D  sqlite (the default), or postgres
  --objects O   file (the default), or s3: MinIO, or the server that TEST_S3_SERVER names`

await runMain(USAGE, main)

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const options = { seconds: text, seed: text, case: text, database: text, objects: text }
  const { values } = parseArgs({ args: [...args], options })
  const { database = 'sqlite', objects = 'file' } = values
  const asked = { database, objects }
  const seconds = Number(values.seconds ?? 60)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30))
  const onlyCase = values.case === undefined ? undefined : Number(values.case)
  const isNumbers = Number.isInteger(seed) && Number.isInteger(onlyCase ?? 0) && seconds >= 0
  if (!areKnown(asked) || !isNumbers) {
    console.error(USAGE)
    return 2
  }
  console.log(`${seconds} s on ${database} and ${objects}, seed ${seed}`)
  await using opened = new AsyncDisposableStack()
  const ending = new AbortController()
  process.once('SIGINT', () => ending.abort())
  const figures = await runFuzz({
    places: await openPlaces(asked, opened),
    seconds,
    seed,
    signal: ending.signal,
    onProgress: ({ cases, findings }) => console.log(`${cases} cases, ${findings.length} findings`),
    ...(onlyCase !== undefined && { onlyCase }),
  })
  await printFindings(figures.tally, seed)
  console.log(describeFigures(figures))
  return figures.tally.findings.length === 0 ? 0 : 1
}

/** Prints the findings, and writes the bytes sent and received to files. */
async function printFindings({ findings }: FuzzTally, seed: number): Promise<void> {
  for (const { number, text, bytes, received } of findings.slice(0, 50)) {
    if (number === undefined || bytes === undefined) {
      console.error(text)
      continue
    }
    const file = join(tmpdir(), `cloud-repository-fuzz-${seed}-${number}`)
    await writeFile(`${file}.sent`, bytes)
    await writeFile(`${file}.received`, received ?? '')
    console.error(`--seed ${seed} --case ${number}: ${text} (${file}.sent)`)
  }
}
