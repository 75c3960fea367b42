#!/usr/bin/env node
import { clearLine, cursorTo } from 'node:readline'
import { parseArgs } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { readVersion } from './build-info.ts'
import type { Admin } from './cli/admin.ts'
import type { CommandServices } from './cli/command.ts'
import { isHelp } from './cli/usage.ts'
import { type Config, ConfigError, readConfig } from './config/config.ts'
import { printable, render } from './cli/render.ts'
import { DRAIN_MS } from './compose/stop.ts'
import { closePlaces } from './config/private-places.ts'
import { readEnvFiles } from './config/env-files.ts'
import { maxDescriptors } from './http/server/connection-slots.ts'
import type { DemoConfig, DemoPlace } from './demo.ts'
import type { Tracing } from './tracing/tracing.ts'

// What only some commands need is imported by them: everything would take them half a second.
const [command, ...args] = process.argv.slice(2)

try {
  process.exitCode = await run()
} catch (error) {
  const text = printable(explain(error))
  const isClear = error instanceof ConfigError || isPortTaken(error)
  console.error(isClear ? text : `${text}\nRun the command "doctor" for details.`)
  process.exitCode = 1
}
// Only abandoned work remains, such as a request to a trace collector that does not answer.
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

/** Serves until SIGTERM, which waits for load balancers, or SIGINT, which does not. */
async function runServer(): Promise<number> {
  const off = { type: 'boolean', default: false } as const
  const { values } = parseArgs({ args, options: { demo: off, 'print-token': off } })
  const { openLog } = await import('./log/log.ts')
  const { settingWarnings } = await import('./config/warnings.ts')
  const demo = values.demo ? await readDemo(values['print-token']) : undefined
  const config = demo?.config ?? readConfig(process.env)
  const logger = await openLog({ level: config.logLevel, format: config.logFormat })
  process.on('uncaughtExceptionMonitor', (err) =>
    logger.fatal({ err }, 'uncaught exception; exiting'),
  )
  const stopped = stopSignal()
  const files = readEnvFiles(process.execArgv)
  const checked = { environment: process.env, files, config, maxDescriptors: maxDescriptors() }
  for (const warning of settingWarnings(checked)) logger.warn(warning)
  for (const place of await closePlaces(config))
    logger.info(place, 'access by other system users removed')
  return await serveUntil(stopped, { config, logger, demo })
}

interface Serving {
  readonly config: Config
  readonly logger: FastifyBaseLogger
  readonly demo: Demo | undefined
}

async function serveUntil(
  stopped: Promise<NodeJS.Signals>,
  { config, logger, demo }: Serving,
): Promise<number> {
  const { openService } = await import('./compose/compose.ts')
  await using opened = new AsyncDisposableStack()
  const tracing = await startTracing(config, logger)
  // Process 1 of a container ignores signals without a listener, and opening can wait long for the database.
  const service = await Promise.race([
    openService(config, { tracing, warn: (err, message) => logger.warn({ err }, message) }),
    stopped.then(() => undefined),
  ])
  // Nothing needs a clean end yet, and the opening may never settle.
  if (service === undefined) process.exit(0)
  opened.defer(() => service.close())
  await service.rebuilder.assertFinished()
  const { serve } = await import('./serve.ts')
  const server = await serve({ config, service, logger, tracing })
  opened.defer(() => server.stop())
  if (demo !== undefined) {
    const url = server.url + config.basePath
    const { hasPage, operatorPageUrl } = server
    const { adminToken, showsToken } = demo
    const place = { url, hasPage, operatorPageUrl, adminToken, showsToken }
    const { introduceDemo } = await import('./demo.ts')
    console.log(await introduceDemo(service, place))
  }
  const signal = await stopped
  logger.info({ signal }, 'stopping')
  await server.stop({ drainMs: signal === 'SIGTERM' ? DRAIN_MS : 0 })
  logger.info('stopped')
  return 0
}

type Demo = DemoConfig & Pick<DemoPlace, 'showsToken'>

async function readDemo(printsToken: boolean): Promise<Demo> {
  const showsToken = process.stdout.isTTY || printsToken
  if (!showsToken) {
    return { config: readConfig(process.env), adminToken: undefined, showsToken }
  }
  const { readDemoConfig } = await import('./demo.ts')
  return { ...readDemoConfig(process.env), showsToken }
}

async function startTracing(
  { traces }: Config,
  logger: FastifyBaseLogger,
): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined
  const { openTracing } = await import('./tracing/tracing.ts')
  return openTracing(traces, (err, message) => logger.warn({ err }, message))
}

async function runDoctor(): Promise<number> {
  const { diagnose } = await import('./doctor.ts')
  const diagnoses = await diagnose(process.env, readEnvFiles(process.execArgv))
  console.log(printable(args.includes('--json') ? JSON.stringify(diagnoses) : render(diagnoses)))
  return diagnoses.every(({ result }) => result === 'ok') ? 0 : 1
}

async function runCommand(): Promise<number> {
  const { runCli } = await import('./cli/cli.ts')
  const { createCopies } = await import('./compose/copies.ts')
  return await runCli({
    args: process.argv.slice(2),
    open: openServices,
    print: console.log,
    printError: console.error,
    interruption,
    drawLine: process.stderr.isTTY ? drawLine : undefined,
    copies: createCopies(process.env),
  })
}

async function openServices(options: {
  readonly acceptsAnyStore: boolean
}): Promise<CommandServices> {
  const { openService } = await import('./compose/compose.ts')
  const service = await openService(readConfig(process.env), options)
  async function openAdmin(onUnrecorded: (error: unknown) => void): Promise<Admin> {
    const { createInProcess } = await import('./http/admin/in-process.ts')
    return createInProcess({ useCases: service, onUnrecorded })
  }
  return { ...service, openAdmin }
}

function drawLine(text: string): void {
  cursorTo(process.stderr, 0)
  clearLine(process.stderr, 1)
  process.stderr.write(text)
}

/** Aborts on the first SIGTERM or SIGINT; the next one ends the process by default. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  const onSignal = () => controller.abort(new Error('Interrupted.'))
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal)
  return controller.signal
}

/** A signal within a second of the first is a repeat (npm can deliver Ctrl-C twice); a later one exits at once. */
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

/** Omits the stack, which does not help an operator. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isPortTaken(error)) {
    const advice = 'Choose another port, such as PORT=4000 or ADMIN_PORT=4001.'
    return `${error.message}: another program is listening there. ${advice}`
  }
  const cause = error.cause === undefined ? '' : `\n  caused by: ${explain(error.cause)}`
  return `${error.message}${cause}`
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
