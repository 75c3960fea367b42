import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createFolder } from '../support/servers/local-server.ts'

const execute = promisify(execFile)

/** The program: `SCHEMATHESIS`, or `schemathesis` on the PATH. */
const PROGRAM = process.env['SCHEMATHESIS'] ?? 'schemathesis'

/** Why it cannot be run here, or `undefined`. */
export async function whyNoSchemathesis(): Promise<string | undefined> {
  return await execute(PROGRAM, ['--version'], { timeout: 60_000 }).then(
    () => undefined,
    () => 'No schemathesis: it is neither on the PATH (pip install schemathesis) nor SCHEMATHESIS',
  )
}

export interface Fuzzing {
  /** Of the OpenAPI document. */
  readonly url: string
  /** What goes along with all requests; a document behind a token needs it too. */
  readonly headers?: Readonly<Record<string, string>>
  /** The credentials that the document names, in the fuzzer's terms; none when left out. */
  readonly credentials?: string
  /** Requests to make up for each operation, beside the systematic ones. */
  readonly examples: number
}

export interface Findings {
  /** Whether there are none. */
  readonly clean: boolean
  /** As the fuzzer says it. */
  readonly report: string
  /** How many requests it made, in how many seconds. */
  readonly summary: string
}

/** Fuzzes a running service by its own OpenAPI document, always with the same seed. */
export async function fuzz(fuzzing: Fuzzing): Promise<Findings> {
  const folder = await createFolder('schemathesis')
  try {
    const config = join(folder.path, 'schemathesis.toml')
    await writeFile(config, configOf(fuzzing))
    const report = await run(['--config-file', config, 'run', fuzzing.url], folder.path)
    const [, cases = '?'] = /^ +(\d+) generated/m.exec(report.text) ?? []
    const [, seconds = '?'] = /in ([\d.]+)s =+$/m.exec(report.text) ?? []
    return {
      clean: report.code === 0,
      report: report.text,
      summary: `${cases} requests in ${seconds} s`,
    }
  } finally {
    await folder.remove()
  }
}

/**
 * All checks are on but for one: `positive_data_acceptance` takes what depends on more than a request (412, 413, 416)
 * for an answer as good as 404. Members of a query that no route names are left out, since most routes ignore them.
 */
function configOf({ headers = {}, credentials, examples }: Fuzzing): string {
  const hooks = join(import.meta.dirname, 'schemathesis_hooks.py')
  return [
    'seed = 20261121',
    'color = false',
    `hooks = ${JSON.stringify(hooks)}`,
    'continue-on-failure = true',
    'request-timeout = 30',
    `headers = { ${Object.entries(headers)
      .map((pair) => pair.map((text) => JSON.stringify(text)).join(' = '))
      .join(', ')} }`,
    'warnings = false',
    // The hooks leave out most forms, since most have metadata.
    'suppress-health-check = ["filter_too_much"]',
    '[generation]',
    `max-examples = ${examples}`,
    'no-shrink = true',
    'allow-extra-parameters = false',
    'database = "none"',
    '[phases.stateful]',
    'enabled = false',
    '[checks.positive_data_acceptance]',
    'expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "412", "413", "416", "429"]',
    ...(credentials === undefined ? [] : ['[auth.openapi]', credentials]),
    '[[operations]]',
    'include-path-regex = "/uploads"',
    // A tus version that is missing or wrong is 412. An upload that has ended is 410, which is as good as 404. A link
    // with a password, which nobody enters here, is 401.
    '[operations.checks.positive_data_acceptance]',
    'expected-statuses = ["2xx", "401", "403", "404", "409", "410", "412", "413"]',
    '[operations.checks.negative_data_rejection]',
    'expected-statuses = ["400", "401", "403", "404", "405", "409", "410", "412", "413", "415"]',
    '[operations.checks.missing_required_header]',
    'expected-statuses = ["400", "401", "403", "404", "405", "412"]',
    '[[operations]]',
    'include-path-regex = "^/users/me/repo/"',
    // Preconditions are compared before the form is read to its end.
    '[operations.checks.negative_data_rejection]',
    'expected-statuses = ["400", "401", "403", "404", "405", "409", "412"]',
    '',
  ].join('\n')
}

async function run(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly text: string }> {
  const options = { cwd, timeout: 300_000, maxBuffer: 64 * 2 ** 20 }
  try {
    const { stdout, stderr } = await execute(PROGRAM, [...args], options)
    return { code: 0, text: stdout + stderr }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !('stdout' in error)) throw error
    return { code: 1, text: String(error.stdout) + String('stderr' in error ? error.stderr : '') }
  }
}
