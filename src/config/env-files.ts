import { existsSync, readFileSync } from 'node:fs'
import { parseArgs, parseEnv } from 'node:util'

/** A file from which Node.js has read variables of the environment. */
export interface EnvFile {
  readonly path: string
  readonly names: readonly string[]
}

/** Those that the arguments of Node.js name. */
export function readEnvFiles(nodeArgs: readonly string[]): readonly EnvFile[] {
  const path = { type: 'string', multiple: true, default: [] as string[] } as const
  const { values } = parseArgs({
    args: [...nodeArgs],
    options: { 'env-file': path, 'env-file-if-exists': path },
    strict: false,
  })
  const paths = [...values['env-file'], ...values['env-file-if-exists']].map(String)
  return paths.filter(existsSync).map((path) => ({ path, names: namesIn(path) }))
}

function namesIn(path: string): readonly string[] {
  return Object.keys(parseEnv(readFileSync(path, 'utf8'))).toSorted()
}
