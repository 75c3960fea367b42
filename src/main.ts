#!/usr/bin/env node
import { clearLine, cursorTo } from 'node:readline'
import { parseArgs } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { readVersion } from './build-info.ts'
import { isHelp, runCli } from './cli/cli.ts'
import { type Config, ConfigError, readConfig } from './config/config.ts'
import { printable, render } from './cli/render.ts'
import { createDatabaseCopies } from './database-copies.ts'
import { introduceDemo } from './demo.ts'
import { diagnose } from './doctor.ts'
import { DRAIN_MS } from './drain.ts'
import { openLog } from './log.ts'
import { serve } from './serve.ts'
import { openService } from './compose.ts'
import { closePlaces } from './config/private-places.ts'
import { settingWarnings } from './config/warnings.ts'
import type { Tracing } from './tracing/tracing.ts'

const [command, ...args] = process.argv.slice(2)

try {
  process.exitCode = await run()
} catch (error) {
  console.error(printable(explain(error)))
  if (!(error instanceof ConfigError) && !isPortTaken(error)) {
    console.error('The command "doctor" says more.')
  }
  process.exitCode = 1
}
// All has ended by now but what nobody waits for, such as a collector of traces that does not answer.
if (command === 'serve') process.exit()

function run(): Promise<number> {
  if (process.argv.includes('--version', 2)) return printVersion()
  if (args.some(isHelp)) return runCommand()
  if (command === 'serve') return runServer()
  return command === 'doctor' ? runDoctor() : runCommand()
}

async function printVersion(): Promise<number> {
  console.log(await readVersion())
  return 0
}

/**
 * Serves until SIGTERM, which orchestrators send, or SIGINT, which people do, who have no balancer to wait for; a second
 * signal ends the process at once.
 */
async function runServer(): Promise<number> {
  const off = { type: 'boolean', default: false } as const
  const { values } = parseArgs({ args, options: { demo: off, 'print-token': off } })
  const config = readConfig(process.env)
  await using opened = new AsyncDisposableStack()
  const logger = await openLog({ level: config.logLevel, format: config.logFormat })
  process.on('uncaughtExceptionMonitor', (err) => logger.fatal({ err }, 'dies of an error'))
  for (const warning of settingWarnings(process.env, config)) logger.warn(warning)
  const stopped = stopSignal()
  for (const place of await closePlaces(config)) logger.info(place, 'closed to other users')
  const tracing = await startTracing(config, logger)
  // As process 1 of a container only a listener makes a signal heard, and a start can wait long for its database.
  const service = await Promise.race([
    openService(config, { tracing, warn: (err, message) => logger.warn({ err }, message) }),
    stopped.then(() => undefined),
  ])
  // Nothing runs yet that would have to end well, and what is awaited may never come.
  if (service === undefined) process.exit(0)
  opened.defer(() => service.close())
  if (await service.rebuilder.isUnfinished()) {
    throw new Error(
      'A rebuild was interrupted, so files are missing. Run "rebuild" again, to its end.',
    )
  }
  const server = await serve({ config, service, logger, tracing })
  opened.defer(() => server.stop())
  if (values.demo) {
    const url = server.url + config.basePath
    const showsToken = process.stdout.isTTY || values['print-token']
    console.log(await introduceDemo(service, { ...server, url, showsToken }))
  }
  const signal = await stopped
  logger.info({ signal }, 'stopping')
  await server.stop({ drainMs: signal === 'SIGTERM' ? DRAIN_MS : 0 })
  logger.info('stopped')
  return 0
}

/** Loads what traces by OpenTelemetry where the settings ask for it, and nothing otherwise. */
async function startTracing(
  { traces }: Config,
  logger: FastifyBaseLogger,
): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined
  const { openTracing } = await import('./tracing/tracing.ts')
  return openTracing({ ...traces, warn: (err, message) => logger.warn({ err }, message) })
}

async function runDoctor(): Promise<number> {
  const diagnoses = await diagnose(process.env)
  console.log(printable(args.includes('--json') ? JSON.stringify(diagnoses) : render(diagnoses)))
  return diagnoses.every(({ result }) => result === 'ok') ? 0 : 1
}

function runCommand(): Promise<number> {
  return runCli({
    args: process.argv.slice(2),
    open: () => openService(readConfig(process.env)),
    print: console.log,
    printError: console.error,
    interruption,
    drawLine: process.stderr.isTTY ? drawLine : undefined,
    copies: createDatabaseCopies(process.env),
  })
}

function drawLine(text: string): void {
  cursorTo(process.stderr, 0)
  clearLine(process.stderr, 1)
  process.stderr.write(text)
}

/** Aborts on the first SIGTERM or SIGINT; the next ends the process as if nobody listened. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  const onSignal = () => controller.abort(new Error('Interrupted.'))
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal)
  return controller.signal
}

/**
 * Resolves to the first SIGTERM or SIGINT. One that follows within a second is taken for the same (a terminal's Ctrl-C
 * can arrive twice, by way of npm); a later one ends the process at once.
 */
function stopSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let firstAt: number | undefined
  function onSignal(signal: NodeJS.Signals): void {
    firstAt ??= performance.now()
    resolve(signal)
    if (performance.now() - firstAt > 1000) process.exit(1)
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  return promise
}

/** What is wrong in a line or two; a stack would not help who has to mend it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isPortTaken(error)) {
    return `${error.message}: something else listens there. Choose another port, such as PORT=4000, or ADMIN_PORT=4001.`
  }
  const cause = error.cause === undefined ? '' : `\n  because: ${explain(error.cause)}`
  return `${error.message}${cause}`
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
