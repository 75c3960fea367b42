import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { destination, type DestinationStream, type Logger, pino } from 'pino'
import type { LogFormat, LogLevel } from './setting-parsers.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
}

export interface Log {
  readonly logger: Logger
  /**
   * Guarantees that what was logged has been written, unless nobody takes it within a second: then it is given up, so
   * that it does not keep the process. Nothing may be logged afterwards.
   */
  end(): Promise<void>
}

/** Opens the log on the standard output: JSON, or lines for people where a terminal shows them. */
export async function openLog({ level, format }: LogOptions): Promise<Log> {
  const isPretty = format === 'auto' ? process.stdout.isTTY : format === 'pretty'
  return isPretty ? openPrettyLog(level) : openJsonLog(level)
}

/**
 * Lines are written beside the event loop, in turn: whoever reads them slowly, or not at all, holds up no request. What
 * waits is bounded; lines beyond it are dropped, and their number is logged when there is room again. At the end of the
 * process, also by an error that nobody caught, pino writes what waits.
 */
function openJsonLog(level: LogLevel): Log {
  const output = destination({
    dest: process.stdout.fd,
    sync: false,
    maxLength: MOST_WAITING_BYTES,
  })
  const logger = pino({ level }, output)
  let dropped = 0
  output.on('drop', () => (dropped += 1))
  output.on('drain', () => {
    const lines = dropped
    dropped = 0
    if (lines > 0) logger.warn({ lines }, 'lines of the log were dropped, since nobody took them')
  })
  return {
    logger,
    async end() {
      const closed = once(output, 'close')
      output.end()
      await Promise.race([closed, delay(LAST_WRITE_MS, undefined, { ref: false })])
      output.destroy()
    },
  }
}

const MOST_WAITING_BYTES = 8 * 2 ** 20
const LAST_WRITE_MS = 1_000

/** A terminal is written to at once, so nothing is left at the end. Loaded only where someone looks. */
async function openPrettyLog(level: LogLevel): Promise<Log> {
  const { default: pretty } = await import('pino-pretty')
  const stream: DestinationStream = pretty({
    destination: process.stdout.fd,
    sync: true,
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
  })
  return { logger: pino({ level }, stream), end: async () => undefined }
}
