import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { answers, freePort } from '../../test/support/servers/local-server.ts'

/** The service as the image runs it, as a process of its own, its log on. */
export interface ServiceProcess {
  readonly pid: number
  readonly url: string
  /** From its start until `/readyz` said yes. */
  readonly startSeconds: number
}

export interface ServiceSettings {
  readonly environment: Readonly<Record<string, string>>
  /** Where its log goes. */
  readonly folder: string
  /** Where it writes a CPU profile when it ends, if anywhere. */
  readonly profile?: string | undefined
}

/** The settings of Node in the Dockerfile. */
async function readImageSettings(): Promise<Record<string, string>> {
  const dockerfile = await readFile('Dockerfile', 'utf8')
  const settings: Record<string, string> = {}
  for (const name of ['NODE_OPTIONS', 'UV_THREADPOOL_SIZE']) {
    const value = new RegExp(`^ENV ${name}=(.+)$`, 'm').exec(dockerfile)?.[1]
    if (value === undefined) throw new Error(`The Dockerfile sets no ${name}`)
    settings[name] = value
  }
  return settings
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 40_000

/** Resolves when it is ready; it ends with `opened`. */
export async function startServiceProcess(
  { environment, folder, profile }: ServiceSettings,
  opened: AsyncDisposableStack,
): Promise<ServiceProcess> {
  const port = await freePort()
  if (profile !== undefined) await mkdir(profile, { recursive: true })
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const log = await open(join(folder, 'service.log'), 'a')
  const settings = await readImageSettings()
  const started = performance.now()
  const child = spawn(process.execPath, [...profiling, 'dist/main.js', 'serve'], {
    env: {
      PATH: process.env['PATH'],
      ...settings,
      ...environment,
      PORT: String(port),
    },
    stdio: ['ignore', log.fd, log.fd],
  })
  await log.close()
  const ended = once(child, 'exit')
  opened.defer(async () => {
    // A profile is written by those who end in peace; what the others leave is thrown away.
    child.kill(profile === undefined ? 'SIGKILL' : 'SIGTERM')
    await Promise.race([ended, delay(STOP_TIMEOUT_MS, undefined, { ref: false })])
    child.kill('SIGKILL')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  while (!(await answers(`${url}/readyz`))) {
    const isOver = child.exitCode !== null || performance.now() - started > START_TIMEOUT_MS
    if (isOver) throw new Error(`The service does not start; see ${folder}/service.log`)
    await delay(5)
  }
  return { pid: child.pid ?? 0, url, startSeconds: (performance.now() - started) / 1000 }
}
