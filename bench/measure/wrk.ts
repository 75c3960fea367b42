import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Work } from './measure.ts'
import { runProgram } from '../setup/run-program.ts'

/** Requests of one kind that wrk sends over kept connections, each next one when its answer is there. */
export interface Load {
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT'
  /** The path of each request and its own header fields, separated by tabs. They are sent in this order. */
  readonly targets: readonly string[]
  /** Begins anew when all are sent; without it there have to be more than can be sent. */
  readonly again?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: LoadBody
  /**
   * If set, each request creates an upload without a body, and the body follows in a PATCH with these header fields.
   * Both together are one operation.
   */
  readonly append?: Readonly<Record<string, string>>
  /** Bytes of content per request, sent or received. */
  readonly contentBytes: number
  readonly seconds: number
  readonly connections?: number
  /** Where the requests are written for wrk to read. */
  readonly folder: string
}

export interface LoadBody {
  readonly before: string
  /** Its first 16 bytes are replaced by the request's number, so that no two contents are the same. */
  readonly content: Buffer
  readonly after: string
}

const CONNECTIONS = 16

/** How long an answer may take, beyond which it is one that did not come. */
const TIMEOUT_S = 20

/** Rejects when a request was refused or not answered. */
export async function runWrk(load: Load): Promise<Work> {
  const { seconds, connections = CONNECTIONS, again = false, targets } = load
  const folder = await mkdtemp(join(load.folder, 'load-'))
  try {
    const script = await writeRequests(load, folder)
    const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', `${TIMEOUT_S}s`]
    const args = [...options, '-s', 'bench/requests.lua', load.origin, '--', ...script]
    const report = parseReport(await runProgram('wrk', args, (seconds + 2 * TIMEOUT_S) * 1000))
    if (!again && report.requests >= targets.length - connections) {
      throw new Error(`${targets.length} prepared requests were too few for ${seconds} s`)
    }
    const operations = load.append === undefined ? report.requests : report.requests / 2
    return {
      operations,
      seconds: report.duration_us / 1e6,
      bytes: operations * load.contentBytes,
      p50Ms: report.p50_us / 1000,
      p99Ms: report.p99_us / 1000,
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function writeRequests(load: Load, folder: string): Promise<readonly string[]> {
  const { method, targets, headers = {}, body, append, again } = load
  const write = async (name: string, content: string | Buffer): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  const lines = await write('targets', `${targets.join('\n')}\n`)
  const rest = await write('head', headOf(load, headers, append === undefined ? body : EMPTY))
  const parts = body
    ? [
        await write('before', body.before),
        await write('content', body.content),
        await write('after', body.after),
      ]
    : ['-', '-', '-']
  const appends = append === undefined ? '-' : await write('append', headOf(load, append, body))
  return [lines, method, rest, ...parts, again === true ? 'again' : 'once', appends]
}

const EMPTY: LoadBody = { before: '', content: Buffer.alloc(0), after: '' }

function headOf(
  { origin }: Load,
  headers: Readonly<Record<string, string>>,
  body: LoadBody | undefined,
): string {
  const length = body && body.before.length + body.content.length + body.after.length
  const fields = {
    Host: new URL(origin).host,
    ...headers,
    ...(length !== undefined && { 'Content-Length': String(length) }),
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${head.join('')}\r\n`
}

interface Report {
  readonly requests: number
  readonly duration_us: number
  readonly p50_us: number
  readonly p99_us: number
}

/**
 * Reads the line of JSON that `requests.lua` prints among what wrk says; throws when a request was not answered well.
 */
export function parseReport(output: string): Report {
  const line = output.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined) throw new Error(`wrk said nothing: ${output.trim().slice(-300)}`)
  const report = JSON.parse(line) as Report & { readonly failed: number; readonly broken: number }
  if (report.failed > 0 || report.broken > 0) {
    throw new Error(`${report.failed} requests were refused and ${report.broken} not answered`)
  }
  if (!(report.requests > 0)) throw new Error('No request was answered.')
  return report
}
