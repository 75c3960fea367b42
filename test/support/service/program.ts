import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KEEP_COMPILED } from './compiled.ts'

export interface Started {
  readonly process: ChildProcess
  /** What it has printed so far. */
  readonly output: () => string
}

export interface Program {
  readonly args: readonly string[]
  /** Of Node.js. */
  readonly nodeArgs?: readonly string[]
  /** Where its code lies, when not here. */
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  /** A program and its arguments that run the program in their turn, and leave its process id to it. */
  readonly under?: readonly string[]
  /** Ends what is started, and removes its folder. */
  readonly opened: AsyncDisposableStack
}

/** Runs the program as a process of its own, in a folder of its own, on any free port. */
export async function startProgram(program: Program): Promise<Started> {
  const { args, nodeArgs = [], environment = {}, cwd = '.', under = [], opened } = program
  const DATA_DIR = environment['DATA_DIR'] ?? (await temporaryFolder(opened))
  const node = [process.execPath, ...nodeArgs]
  const [command = '', ...rest] = [...under, ...node, 'src/main.ts', ...args]
  const child = spawn(command, rest, {
    env: { ...KEEP_COMPILED, PATH: process.env['PATH'], PORT: '0', ...environment, DATA_DIR },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  opened.defer(async () => {
    child.kill('SIGKILL')
    await exitOf(child)
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return { process: child, output: () => text }
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

export async function temporaryFolder(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-main-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}
