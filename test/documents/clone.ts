import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, symlink, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/service/program.ts'

const execute = promisify(execFile)

type Environment = Readonly<Record<string, string>>

/** The repository as somebody has it who has just cloned it, with what npm installs. */
export interface Clone {
  readonly folder: string
  /** Has bash run the lines of a document, and rejects when one fails. */
  run(lines: string, environment?: Environment): Promise<string>
  /** Has bash run lines that end with a service, on any free ports, and waits until it listens. */
  start(lines: string, environment?: Environment): Promise<ClonedService>
}

export interface ClonedService {
  readonly url: string
  readonly adminUrl: string | undefined
  /** Of the demo user, which only `npm start` creates. */
  readonly token: string
  /** What it has printed so far. */
  readonly output: () => string
  /** Ends it as Ctrl-C does. */
  stop(): Promise<void>
}

/** What lines of a document may change, or find their own place by. */
const COPIED = ['package.json', 'package-lock.json', 'scripts', '.env.example', 'README.md']

/** What a run makes. */
const MADE = new Set(['data', 'dist', '.env', '.git'])

export async function openClone(opened: AsyncDisposableStack): Promise<Clone> {
  const folder = await temporaryFolder(opened)
  for (const name of COPIED) {
    await cp(name, join(folder, name), { recursive: true, preserveTimestamps: true })
  }
  for (const name of await readdir('.')) {
    if (COPIED.includes(name) || MADE.has(name)) continue
    await symlink(resolve(name), join(folder, name))
  }
  // Else the scripts could take what is installed for older than it, and install it anew through the link.
  await utimes(join(folder, 'package-lock.json'), 0, 0)
  const PATH = process.env['PATH'] ?? ''
  const environmentOf = (more: Environment) => ({ HOME: folder, PATH, ...more })

  async function run(lines: string, environment: Environment = {}): Promise<string> {
    const words = ['--norc', '-euo', 'pipefail', '-c', lines]
    const env = environmentOf(environment)
    const { stdout } = await execute('bash', words, { cwd: folder, env, timeout: 90_000 })
    return stdout
  }

  async function start(lines: string, environment: Environment = {}): Promise<ClonedService> {
    const env = environmentOf({ PORT: '0', ADMIN_PORT: '0', ...environment })
    // npm, the script and the service are a process each, and a terminal tells them all.
    // A reader has a terminal, where the token is printed without being asked for.
    const words = lines.replace(/\bnpm start\b/, 'npm start -- --print-token')
    const child = spawn('bash', ['--norc', '-c', words], { cwd: folder, env, detached: true })
    const exited = once(child, 'exit')
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
    }
    const tell = (signal: NodeJS.Signals): void => {
      const isOver = child.exitCode !== null || child.signalCode !== null
      if (child.pid !== undefined && !isOver) process.kill(-child.pid, signal)
    }
    opened.defer(() => tell('SIGKILL'))
    const output = () => text
    const isDemo = /\bnpm start\b/.test(lines)
    const ready = isDemo
      ? 'Access token of the user "demo", valid for one day: crt_'
      : 'the API listens at'
    await eventually(async () => expect(text).toContain(ready))
    const stop = async (): Promise<void> => {
      tell('SIGINT')
      await exited
    }
    const find = (pattern: RegExp) => pattern.exec(text)?.[1]
    return {
      url: find(/Cloud Repository listens on (\S+)/) ?? '',
      adminUrl: find(/the admin API listens at (http:[^"\s]+)/),
      token: find(/for one day: (crt_\S+)/) ?? '',
      output,
      stop,
    }
  }

  return { folder, run, start }
}
