import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A generator of clients that `docs/clients.md` names. */
export interface Generator {
  readonly title: string
  /** Succeeds where it can run. */
  readonly probe: readonly [string, ...string[]]
  /** Installs in a folder what a project with such a client has, and writes the program that uses the client there. */
  readonly prepare: (folder: string) => Promise<void>
  /** Generates the client of the document `openapi.json` in the folder it runs in. */
  readonly command: string
  /** Runs the command; resolves to its warnings. */
  readonly generate: (folder: string) => Promise<string>
  /** Compiles the client, and the program if it is there. */
  readonly compile: (folder: string) => Promise<void>
  /** Whether a client has a function for an operation. */
  readonly hasOperation: (folder: string) => Promise<(operationId: string) => boolean>
  /**
   * The program. It reads `BASE_URL` and `ACCESS_TOKEN`, stores the file `sent` as the body of a request under `raw/a b`
   * and as a form under `form/a b`, downloads both, and writes them to `received-raw` and `received-form`.
   */
  readonly run: (folder: string, environment: Readonly<Record<string, string>>) => Promise<void>
}

/** The words of a command without quotes. */
export function wordsOf(command: string): readonly [string, ...string[]] {
  const [program = '', ...args] = command.split(' ')
  return [program, ...args]
}

/** Runs a program in a folder; rejects with all that it has printed if it fails. Resolves to what it has printed. */
export async function runIn(
  folder: string,
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...environment }, maxBuffer: 2 ** 26 }
  try {
    const { stdout, stderr } = await execute(program, args, options)
    return stdout + stderr
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`${[program, ...args].join(' ')}: ${stdout}${stderr}`, { cause: error })
  }
}
