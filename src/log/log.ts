import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogFormat, LogLevel } from '../config/parsers.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
}

export async function openLog({ level, format }: LogOptions): Promise<Logger> {
  const isPretty = format === 'auto' ? process.stdout.isTTY : format === 'pretty'
  // Writes synchronously, so that no line is lost when the process dies.
  const output = new LogOutput({
    fd: process.stdout.fd,
    onRecovered: (lines) => logger.error(lines, 'log lines lost'),
  })
  const logger = pino({ level }, isPretty ? await openPretty(output) : output)
  return logger
}

async function openPretty(output: LogOutput): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    destination: new Writable({
      decodeStrings: false,
      write(lines: string, _encoding, done) {
        output.write(lines)
        done()
      },
    }),
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
  })
}

export interface LogOutputOptions {
  readonly fd: number
  /** Called once writing works again. */
  readonly onRecovered: (lost: LostLines) => void
}

export interface LostLines {
  readonly lost: number
  readonly err: unknown
}

/**
 * `write` is synchronous and never throws: a failure (full disk, pipe without a reader) costs only lines, and the next
 * line tries again. A slow pipe blocks for up to 1 s, then counts as failed until it takes bytes.
 */
export class LogOutput {
  readonly #options: LogOutputOptions
  #rest: Uint8Array = NOTHING
  #lost = 0
  #failure: { readonly err: unknown } | undefined

  constructor(options: LogOutputOptions) {
    this.#options = options
  }

  write(text: string): void {
    this.#rest = this.#writeOut(this.#rest)
    const line = Buffer.from(text)
    const left = this.#rest.byteLength > 0 ? line : this.#writeOut(line)
    if (left.byteLength === line.byteLength) {
      this.#lost += 1
      return
    }
    // A partial line counts as neither written nor lost until its rest is written.
    this.#rest = left
    if (left.byteLength > 0) return
    const lines = { lost: this.#lost, err: this.#failure?.err }
    this.#lost = 0
    this.#failure = undefined
    // This writes a line too, which can be lost in turn.
    if (lines.lost > 0) this.#options.onRecovered(lines)
    if (this.#lost > 0) this.#lost += lines.lost
  }

  #writeOut(bytes: Uint8Array): Uint8Array {
    let left = bytes
    const waitsUntil = this.#failure === undefined ? performance.now() + WRITE_TIMEOUT_MS : 0
    while (left.byteLength > 0) {
      try {
        left = left.subarray(writeSync(this.#options.fd, left))
      } catch (err) {
        if (!isBusy(err) || performance.now() > waitsUntil) {
          this.#failure = { err }
          return left
        }
        Atomics.wait(NEVER_WOKEN, 0, 0, RETRY_MS)
      }
    }
    return left
  }
}

const NOTHING = new Uint8Array(0)

const WRITE_TIMEOUT_MS = 1_000
const RETRY_MS = 5

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4))

/** Node makes pipes non-blocking. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}
