import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { whyMissing } from '../../support/servers/needs.ts'
import { temporaryFolder } from '../../support/service/program.ts'

const execute = promisify(execFile)

const PROGRAMS = 'build, hatchling, httpx, mypy, packaging'

/** Why the package cannot be built and tested here, or `undefined`. */
export async function whyNoPython(): Promise<string | undefined> {
  const reason = await whyMissing(execute('python3', ['-c', `import ${PROGRAMS}`]))
  return reason === undefined ? undefined : `No Python package: python3 with ${PROGRAMS} is missing`
}

/** A virtual environment that has nothing but the package, as PyPI gets it, and what that needs. */
export interface PythonProject {
  readonly folder: string
  readonly python: string
  /** The names of what was built. */
  readonly built: readonly string[]
  /** Writes a file into the folder, and resolves to its path. */
  write(name: string, content: string | Uint8Array): Promise<string>
  /** Runs Python in the folder. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>
}

/** Builds the source distribution, from it the wheel, and installs that. Nothing is downloaded. */
export async function installPackage(opened: AsyncDisposableStack): Promise<PythonProject> {
  const folder = await temporaryFolder(opened)
  const dist = join(folder, 'dist')
  const build = ['-m', 'build', '--no-isolation', '--outdir', dist, 'packages/python']
  await execute('python3', build)
  const built = await readdir(dist)
  const wheel = built.find((name) => name.endsWith('.whl')) ?? ''
  const venv = join(folder, 'venv')
  await execute('python3', [join(import.meta.dirname, 'environment.py'), venv, join(dist, wheel)])
  const python = join(venv, 'bin', 'python')
  return {
    folder,
    python,
    built,
    async write(name, content) {
      const path = join(folder, name)
      await writeFile(path, content)
      return path
    },
    async run(args, environment = {}) {
      const env = { PATH: '/usr/bin:/bin', ...environment }
      const { stdout } = await execute(python, args, { cwd: folder, env, timeout: 240_000 })
      return stdout
    },
  }
}

export type Mode = 'Client' | 'AsyncClient'

/** A process that has a client, and runs programs one after another. */
export interface PythonSession {
  /**
   * What a program returns. It is written for `AsyncClient`, and has `client`, a `direct` client of the service without
   * the network between, and the names of driver.py.
   */
  run(program: string): Promise<unknown>
  /** What a program raises. */
  errorOf(program: string): Promise<unknown>
}

export async function startSession(
  opened: AsyncDisposableStack,
  options: {
    readonly project: PythonProject
    readonly mode: Mode
    readonly environment: Readonly<Record<string, string>>
  },
): Promise<PythonSession> {
  const { project, mode, environment } = options
  // Reports resources that are not released, and coroutines that are not awaited.
  const args = ['-W', 'error', resolve(import.meta.dirname, 'driver.py'), mode]
  const child = spawn(project.python, args, {
    cwd: project.folder,
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const exited = once(child, 'exit')
  opened.defer(async () => {
    child.stdin.end()
    await exited
    if (complaints !== '') throw new Error(complaints)
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()

  async function answerTo(program: string): Promise<{ result?: unknown; error?: unknown }> {
    child.stdin.write(`${JSON.stringify(program)}\n`)
    const { value, done } = await lines.next()
    if (done === true) throw new Error(`The process has ended: ${complaints}`)
    return JSON.parse(value) as { result?: unknown; error?: unknown }
  }

  return {
    async run(program) {
      const { result, error } = await answerTo(program)
      if (error !== undefined) throw new Error(JSON.stringify(error))
      return result
    },
    errorOf: async (program) => (await answerTo(program)).error,
  }
}
