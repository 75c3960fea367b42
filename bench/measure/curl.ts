import type { Work } from './measure.ts'
import { runProgram } from '../setup/run-program.ts'
import { percentileOf } from './statistics.ts'

/** A file that curl sends or receives. */
export interface Transfer {
  readonly url: string
  readonly cookie?: string | undefined
  /** What is sent, and how; nothing is sent when left out. */
  readonly upload?: { readonly kind: 'form' | 'raw'; readonly path: string }
  /** Where the answer is written; nowhere when left out. */
  readonly output?: string
  /** Of the content. */
  readonly bytes: number
}

/** Runs one curl for each transfer, all at once; rejects when one was not answered with 200, or not within the time. */
export async function runCurl(transfers: readonly Transfer[], timeoutS: number): Promise<Work> {
  const started = performance.now()
  const times = await Promise.all(transfers.map((transfer) => runOne(transfer, timeoutS)))
  const seconds = (performance.now() - started) / 1000
  const bytes = transfers.reduce((sum, transfer) => sum + transfer.bytes, 0)
  const [p50 = 0, p99 = 0] = [percentileOf(times, 50), percentileOf(times, 99)]
  const percentiles = times.length > 1 ? { p50Ms: p50 * 1000, p99Ms: p99 * 1000 } : {}
  return { operations: transfers.length, seconds, bytes, ...percentiles }
}

const WRITE_OUT = '%{http_code} %{time_total} %{size_download}'

async function runOne(transfer: Transfer, timeoutS: number): Promise<number> {
  const { url, cookie, upload, output = '/dev/null', bytes } = transfer
  const args = ['-sS', '--max-time', String(timeoutS), '-o', output, '-w', WRITE_OUT]
  if (cookie !== undefined) args.push('--cookie', cookie)
  if (upload?.kind === 'form') args.push('-F', `file=@${upload.path}`)
  if (upload?.kind === 'raw') args.push('-T', upload.path)
  const report = await runProgram('curl', [...args, url], (timeoutS + 10) * 1000)
  const { seconds, received } = parseWriteOut(report)
  if (upload === undefined && received !== bytes) {
    throw new Error(`${received} bytes were received of ${bytes}.`)
  }
  return seconds
}

/** Reads what `WRITE_OUT` makes curl print; throws unless the status is 200. */
export function parseWriteOut(text: string): {
  readonly seconds: number
  readonly received: number
} {
  const [status, seconds, received] = text.trim().split(' ').map(Number)
  if (status !== 200) throw new Error(`A transfer was answered with ${status}.`)
  if (seconds === undefined || received === undefined) throw new Error(`curl said ${text}.`)
  return { seconds, received }
}
