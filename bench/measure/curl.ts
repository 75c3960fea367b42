import type { Work } from './measure.ts'
import { runProgram } from '../setup/run-program.ts'
import { APPEND, TUS } from '../setup/tus.ts'
import { percentileOf } from './statistics.ts'

/** A file that curl sends or receives. */
export interface Transfer {
  readonly url: string
  readonly cookie?: string | undefined
  /** What is sent, and how; nothing is sent when left out. An append goes to a resumable upload, from `offset` on. */
  readonly upload?:
    | { readonly kind: 'form' | 'raw'; readonly path: string }
    | { readonly kind: 'append'; readonly path: string; readonly offset: number }
  /** Where the answer is written, of an append its head; nowhere when left out. */
  readonly output?: string
  /** Of the content. */
  readonly bytes: number
}

/** Runs one curl for each transfer, all at once; rejects when one was not answered well, or not within the time. */
export async function runCurl(transfers: readonly Transfer[], timeoutS: number): Promise<Work> {
  return await runCurls(
    transfers.map((transfer) => [transfer]),
    timeoutS,
  )
}

/** As `runCurl`, with several transfers for each curl, one after the other over kept connections: one operation. */
export async function runCurls(
  sequences: readonly (readonly Transfer[])[],
  timeoutS: number,
): Promise<Work> {
  const started = performance.now()
  const times = await Promise.all(sequences.map((transfers) => runOne(transfers, timeoutS)))
  const seconds = (performance.now() - started) / 1000
  const bytes = sequences.flat().reduce((sum, transfer) => sum + transfer.bytes, 0)
  const [p50 = 0, p99 = 0] = [percentileOf(times, 50), percentileOf(times, 99)]
  const percentiles = times.length > 1 ? { p50Ms: p50 * 1000, p99Ms: p99 * 1000 } : {}
  return { operations: sequences.length, seconds, bytes, ...percentiles }
}

const WRITE_OUT = '%{http_code} %{time_total} %{size_download}\\n'

async function runOne(transfers: readonly Transfer[], timeoutS: number): Promise<number> {
  const args = transfers.flatMap((transfer, at) => [
    ...(at === 0 ? [] : ['--next']),
    ...argumentsOf(transfer, timeoutS),
  ])
  const report = await runProgram('curl', args, (timeoutS + 10) * 1000)
  const lines = report.trim().split('\n')
  return transfers.reduce((sum, { upload, bytes }, at) => {
    const status = upload?.kind === 'append' ? 204 : 200
    const { seconds, received } = parseWriteOut(lines[at] ?? '', status)
    if (upload !== undefined || received === bytes) return sum + seconds
    throw new Error(`${received} bytes were received of ${bytes}.`)
  }, 0)
}

function argumentsOf(
  { url, cookie, upload, output = '/dev/null' }: Transfer,
  timeoutS: number,
): readonly string[] {
  const args = ['-sS', '--max-time', String(timeoutS), '-w', WRITE_OUT]
  if (cookie !== undefined) args.push('--cookie', cookie)
  if (upload?.kind === 'form') args.push('-F', `file=@${upload.path}`)
  if (upload?.kind === 'raw') args.push('-T', upload.path)
  if (upload?.kind !== 'append') return [...args, '-o', output, url]
  const fields = Object.entries({ ...TUS, ...APPEND, 'Upload-Offset': upload.offset })
  const headers = fields.flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  return [...args, ...headers, '-X', 'PATCH', '-T', upload.path, '-D', output, url]
}

/** Reads what `WRITE_OUT` makes curl print; throws unless the status is the expected one. */
export function parseWriteOut(
  text: string,
  expected = 200,
): {
  readonly seconds: number
  readonly received: number
} {
  const [status, seconds, received] = text.trim().split(' ').map(Number)
  if (status !== expected) throw new Error(`A transfer was answered with ${status}.`)
  if (seconds === undefined || received === undefined) throw new Error(`curl said ${text}.`)
  return { seconds, received }
}
