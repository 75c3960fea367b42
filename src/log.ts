import { destination, type DestinationStream, type Logger, pino } from 'pino'
import type { LogFormat, LogLevel } from './setting-parsers.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
}

/** Opens the log on the standard output: JSON, or lines for people where a terminal shows them. */
export async function openLog({ level, format }: LogOptions): Promise<Logger> {
  const isPretty = format === 'auto' ? process.stdout.isTTY : format === 'pretty'
  return isPretty ? openPrettyLog(level) : openJsonLog(level)
}

/**
 * Lines are written at once, so none is missing when the process dies, of whatever. Whoever takes them slowly slows the
 * service down; an output that fails ends it.
 */
function openJsonLog(level: LogLevel): Logger {
  return pino({ level }, destination({ dest: process.stdout.fd, sync: true }))
}

/** A terminal is written to at once, so nothing is left at the end. Loaded only where someone looks. */
async function openPrettyLog(level: LogLevel): Promise<Logger> {
  const { default: pretty } = await import('pino-pretty')
  const stream: DestinationStream = pretty({
    destination: process.stdout.fd,
    sync: true,
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
  })
  return pino({ level }, stream)
}
