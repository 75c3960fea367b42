import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Ran, runToEnd } from '../programs.ts'
import { secretOf } from '../../http/fixture.ts'
import type { TestUser } from '../../support/service/test-service.ts'

const execute = promisify(execFile)

type Variables = Readonly<Record<string, string>>

export interface Reader {
  readonly url: string
  readonly token: string
}

/** A user of the service as a reader of the guides, who has set BASE_URL and ACCESS_TOKEN. */
export function readerOf({ url }: { readonly url: string }, user: TestUser): Reader {
  return { url, token: secretOf(user) }
}

/** The environment of what a reader runs. */
export function environmentOf({ url, token }: Reader, variables: Variables = {}) {
  return { ...process.env, BASE_URL: url, ACCESS_TOKEN: token, ...variables }
}

/** Why the programs in Python cannot run here, or `undefined`. */
export function whyNoRequests(): Promise<string | undefined> {
  return execute('python3', ['-c', 'import requests']).then(
    () => undefined,
    () => 'No guides in Python: python3 with the package requests is missing',
  )
}

export interface Run {
  readonly reader: Reader
  readonly variables?: Variables
  /** Where it runs. */
  readonly folder?: string
}

/** Runs a program to its end, whatever its exit code. */
export function runProgram(
  command: readonly [string, ...string[]],
  { reader, variables, folder }: Run,
): Promise<Ran> {
  return runToEnd(command, { env: environmentOf(reader, variables), cwd: folder, timeout: 60_000 })
}

/** Runs the commands of a block, and reads what they print as JSON. Rejects if they fail. */
export async function runCommands(block: string, run: Run): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runProgram(['sh', '-euc', block], run)
  if (code !== 0) throw new Error(`${code}: ${stdout} ${stderr}`)
  return stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>)
}
