import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { access, constants, mkdtemp, rm, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface ProgramOptions {
  readonly program: string
  readonly args: readonly string[]
  /** Beside the variables of this process. */
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Whom it runs as, when not as this process. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined
  /** Asked again and again until it says yes. */
  readonly isReady: () => Promise<boolean>
  /** What ends it quickly; SIGKILL follows if it does not. */
  readonly stopSignal: NodeJS.Signals
}

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000

export interface RunningServer {
  readonly pid: number
  stop(): Promise<void>
}

/** Runs a server until `stop`. Resolves when it is ready; else ends it and rejects with the reason. */
export async function runServer(options: ProgramOptions): Promise<RunningServer> {
  const { program, args, environment, cwd, identity, isReady, stopSignal } = options
  const child = spawn(program, args, {
    ...(cwd !== undefined && { cwd }),
    ...identity,
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  })
  const stop = () => end(child, stopSignal)
  try {
    await ready(child, isReady)
  } catch (error) {
    await stop()
    throw error
  }
  return { pid: child.pid ?? 0, stop }
}

async function ready(child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code) => resolve(`it ended with ${code}`))
  })
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    const outcome = await Promise.race([ended, isReady()])
    if (outcome === true) return
    if (typeof outcome === 'string') throw new Error(`${child.spawnfile}: ${outcome}`)
    await setTimeout(50)
  }
  throw new Error(`${child.spawnfile} was not ready within ${START_TIMEOUT_MS} ms`)
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill(signal)
  const late = setTimeout(STOP_TIMEOUT_MS, 'late', { ref: false })
  if ((await Promise.race([ended, late])) !== 'late') return
  child.kill('SIGKILL')
  await ended
}

/** Whether a GET of `url` is answered with success, soon. */
export async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.ok === true
}

export interface Folder {
  readonly path: string
  remove(): Promise<void>
}

/** An empty folder of the system's folder for temporary files. */
export function createFolder(name: string): Promise<Folder> {
  return folderIn(tmpdir(), name)
}

/**
 * An empty folder in memory where the machine has a file system with room for that, else as above: for what no test
 * looks for after a loss of power, and which would wait for the disk most of the time.
 */
export async function createMemoryFolder(name: string): Promise<Folder> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return folderIn(free >= ROOM_BYTES ? MEMORY : tmpdir(), name)
}

const MEMORY = '/dev/shm'
const ROOM_BYTES = 8 * 2 ** 30

async function folderIn(parent: string, name: string): Promise<Folder> {
  const path = await mkdtemp(join(parent, `cloud-repository-${name}-`))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/**
 * A port of the loopback that nobody listens on. It is none of those that the system and the container engine hand
 * out by themselves (from 32768 on), so nobody is given it before whoever asked listens there.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(FIRST_PORT, FIRST_EPHEMERAL_PORT)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return await freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}

const FIRST_PORT = 10_000
const FIRST_EPHEMERAL_PORT = 32_768

/** Finds a program on the PATH or where `go install` puts them. */
export async function findProgram(name: string): Promise<string> {
  const folders = [...pathFolders(), join(await goPath(), 'bin'), join(homedir(), 'go', 'bin')]
  for (const folder of folders) {
    const program = join(folder, name)
    if (await isExecutable(program)) return program
  }
  throw new Error(`no program ${name} is on the PATH`)
}

export function pathFolders(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
}

export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function goPath(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOPATH'])
    return stdout.trim()
  } catch {
    return ''
  }
}

/** What the first of `starts` that succeeds resolves to, or the reasons of all of them. */
export async function firstOf<T>(
  starts: readonly (() => Promise<T>)[],
): Promise<T | { readonly reasons: string }> {
  const reasons: string[] = []
  for (const start of starts) {
    try {
      return await start()
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { reasons: reasons.join('; ') }
}
