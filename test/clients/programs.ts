import { execFile, type ExecFileOptions } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

type Command = readonly [string, ...string[]]

/** A client in one of the languages that `docs/clients.md` names. */
export interface ClientProgram {
  readonly title: string
  readonly language: string
  readonly file: string
  /** Succeeds where the client can run. */
  readonly probe: Command
  readonly needs: string
  /** Builds it into a folder, for those that are built. */
  readonly build?: (folder: string) => Command
  /** Runs it, built or not. */
  readonly run: (folder: string) => Command
}

export const CLIENTS: readonly ClientProgram[] = [
  {
    title: 'curl',
    language: 'sh',
    file: here('client.sh'),
    probe: ['curl', '--version'],
    needs: 'curl',
    run: () => ['sh', here('client.sh')],
  },
  {
    title: 'Go with net/http',
    language: 'go',
    file: here('client.go'),
    probe: ['go', 'version'],
    needs: 'go',
    build: (folder) => ['go', 'build', '-o', join(folder, 'client-go'), here('client.go')],
    run: (folder) => [join(folder, 'client-go')],
  },
  {
    title: 'Java with HttpClient',
    language: 'java',
    file: here('Client.java'),
    probe: ['java', '--describe-module', 'jdk.compiler'],
    needs: 'a JDK, 17 or later',
    build: (folder) => ['javac', '-d', folder, here('Client.java')],
    // Each of its runs is too short for more than the first compiler.
    run: (folder) => ['java', '-XX:TieredStopAtLevel=1', '-cp', folder, 'Client'],
  },
  {
    title: 'C with libcurl',
    language: 'c',
    file: here('client.c'),
    probe: ['sh', '-c', 'echo "#include <curl/curl.h>" | cc -E - >/dev/null'],
    needs: 'a compiler of C with the headers of libcurl',
    build: (folder) => {
      const built = join(folder, 'client-c')
      return ['cc', '-Wall', '-Wextra', '-Werror', '-o', built, here('client.c'), '-lcurl']
    },
    run: (folder) => [join(folder, 'client-c')],
  },
]

/** Why a client cannot run here, or `undefined`. */
export async function whyNot({ title, needs, probe }: ClientProgram): Promise<string | undefined> {
  const [program, ...args] = probe
  return execute(program, args, { timeout: 30_000 }).then(
    () => undefined,
    () => `No ${title}: ${needs} is missing`,
  )
}

export async function build(client: ClientProgram, folder: string): Promise<void> {
  const [program, ...args] = client.build?.(folder) ?? []
  if (program !== undefined) await execute(program, args, { timeout: 120_000 })
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a client that is built in `folder`. */
export async function runClient(
  client: ClientProgram,
  options: {
    readonly folder: string
    readonly args: readonly string[]
    readonly environment: Readonly<Record<string, string>>
    readonly timeoutMs?: number
    /** Kills it. `runClient` then rejects. */
    readonly signal?: AbortSignal
  },
): Promise<Ran> {
  const command = [...client.run(options.folder), ...options.args] as const
  const env = { ...process.env, ...options.environment }
  const { timeoutMs: timeout = 60_000, signal } = options
  return await runToEnd(command, { env, timeout, signal, killSignal: 'SIGKILL' })
}

/** Runs a program, whatever its exit code. Rejects if a signal ends it. */
export async function runToEnd(
  [program, ...args]: readonly [string, ...string[]],
  options: ExecFileOptions,
): Promise<Ran> {
  try {
    const { stdout, stderr } = await execute(program, args, { ...options, encoding: 'utf8' })
    return { code: 0, stdout, stderr }
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
      return error as Error & Ran
    }
    throw error
  }
}

function here(file: string): string {
  return join(import.meta.dirname, file)
}
