#!/usr/bin/env node
import { pino } from 'pino'
import { runCli } from './cli/cli.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { render } from './cli/render.ts'
import { parseUserId } from './core/user-id.ts'
import { diagnose } from './doctor.ts'
import { serve } from './serve.ts'
import { openService, type Service } from './service.ts'

const [command, ...args] = process.argv.slice(2)

try {
  process.exitCode = await run()
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exitCode = 1
}

function run(): Promise<number> {
  if (command === 'serve') return runServer(args.includes('--demo'))
  return command === 'doctor' ? runDoctor() : runCommand()
}

/** Serves until SIGTERM or SIGINT; a second signal ends the process at once. */
async function runServer(isDemo: boolean): Promise<number> {
  const config = readConfig(process.env)
  const logger = pino({ level: config.logLevel })
  const service = await openService(config)
  try {
    const server = await serve({ config, service, logger })
    if (isDemo) await introduce({ config, service, url: server.url })
    logger.info({ signal: await nextSignal() }, 'stopping')
    void nextSignal().then(() => process.exit(1))
    await server.stop()
    logger.info('stopped')
  } finally {
    await service.close()
  }
  return 0
}

async function runDoctor(): Promise<number> {
  const findings = await diagnose(process.env)
  console.log(args.includes('--json') ? JSON.stringify(findings) : render(findings))
  return findings.every(({ result }) => result === 'ok') ? 0 : 1
}

function runCommand(): Promise<number> {
  return runCli({
    args: process.argv.slice(2),
    open: () => openService(readConfig(process.env)),
    print: console.log,
    printError: console.error,
  })
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
  })
}

/** Makes the user `demo` and prints what a newcomer can paste. */
async function introduce(options: { config: Config; service: Service; url: string }) {
  const { config, service, url } = options
  const userId = parseUserId('demo')
  await service.users.createUser(userId)
  const { secret } = await service.accessTokens.issue({
    userId,
    label: 'npm start',
    expiresInSeconds: undefined,
  })
  const file = `${url}${config.basePath}/users/me/repo/README.md`
  const curl = `curl --cookie access_token=${secret}`
  console.log(`
Cloud Repository listens on ${url}
Its user "demo" has the access token ${secret}

Upload a file, and download it again:

  ${curl} -F file=@README.md ${file}
  ${curl} ${file}
`)
}
