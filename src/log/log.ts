import { Writable } from 'node:stream'
import { type DestinationStream, type Logger, pino } from 'pino'
import { LogOutput } from './output.ts'
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
