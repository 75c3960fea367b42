import type { AccessTokens } from '../core/auth/access-tokens.ts'
import type { Grants } from '../core/quota/grants.ts'
import type { Rebuilder } from '../core/rebuild/rebuilder.ts'
import type { Sweeper } from '../core/sweep/sweeper.ts'
import { parseUserId, type UserId } from '../core/users/user-id.ts'
import type { Users } from '../core/users/users.ts'
import type { Verifier } from '../core/verify/verifier.ts'
import type { Result, Row } from './render.ts'

/** The use cases that commands call; the same as the server's. */
export interface CommandServices {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly sweeper: Sweeper
  readonly verifier: Verifier
  readonly rebuilder: Rebuilder
  backup(file: string): Promise<{ readonly bytes: number }>
  close(): Promise<void>
}

export interface Transfer {
  /** Bytes. */
  readonly moved: number
  readonly total: number
}

interface CopyOptions {
  readonly onProgress: (transfer: Transfer) => void
  readonly signal: AbortSignal
}

/** Copies of the embedded database in S3. */
export interface DatabaseCopies {
  /**
   * Guarantees that the object `target`, which was not there, is a whole copy of the database as `copyTo` makes one in a
   * file of its own; on this machine nothing of it is left, and when this rejects, nothing in the bucket.
   */
  send(
    options: CopyOptions & {
      readonly target: string
      readonly copyTo: (file: string) => Promise<unknown>
    },
  ): Promise<{ readonly bytes: number }>
  /** Puts the copy `source` in the place of a database that is not there; see `database/sqlite/restore.ts`. */
  restore(
    options: CopyOptions & { readonly source: string },
  ): Promise<{ readonly database: string; readonly bytes: number }>
}

export interface CommandCall {
  readonly operands: readonly string[]
  readonly flags: Readonly<Record<string, string>>
  /** Those of the command's switches that were given. */
  readonly switches: ReadonlySet<string>
  readonly json: boolean
  /** Prints what does not wait for the end; what `run` returns is printed after it. */
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  /** Makes the exit code 1 although the command goes on to its end. */
  readonly fail: () => void
  /** Writes over the last line of the terminal that `printError` writes to; `undefined` when there is no terminal. */
  readonly drawLine: ((text: string) => void) | undefined
  readonly copies: DatabaseCopies
  /** For commands that take long: aborts on SIGINT and SIGTERM, which otherwise end the process at once. */
  readonly interruption: () => AbortSignal
}

interface CommandForm {
  readonly words: readonly string[]
  /** Names of the operands; `[name]` may be left out. */
  readonly operands?: readonly string[]
  /** Names of the flags, each with a value. */
  readonly flags?: readonly string[]
  /** Names of the flags without a value. */
  readonly switches?: readonly string[]
  /** Those of the flags that must be given. */
  readonly required?: readonly string[]
  readonly summary: string
}

export interface Command extends CommandForm {
  run(services: CommandServices, call: CommandCall): Promise<Result | undefined>
}

/** A command that opens neither database nor object store. */
export interface StandaloneCommand extends CommandForm {
  runAlone(call: CommandCall): Promise<Result | undefined>
}

/** The first operand as a user id. */
export function userIdOf([userId = '']: readonly string[]): UserId {
  return parseUserId(userId)
}

/** A whole number in decimal digits; `NaN`, which every limit refuses, for anything else. */
export function parseCount(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** Prints a finding while its command goes on: a JSON document for programs, a line for people. */
export function printFinding({ json, print }: CommandCall, row: Row): void {
  print(json ? JSON.stringify(row) : lineOf(row))
}

/** Its kind, then what is known of it. */
function lineOf({ kind, repaired, ...facts }: Row): string {
  const said = Object.entries(facts).filter(([, value]) => value !== null)
  const words = said.map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [String(kind).padEnd(17), ...words, ...(repaired === true ? ['repaired'] : [])].join(' ')
}

const EVERY_MS = 10_000

/** Says every 10 s how far a command has come that takes long; what it returns can be called as often as one likes. */
export function showProgress<T>(
  { printError }: Pick<CommandCall, 'printError'>,
  describe: (progress: T) => string,
): (progress: T) => void {
  let toldAt = performance.now()
  return (progress) => {
    if (performance.now() - toldAt < EVERY_MS) return
    toldAt = performance.now()
    printError(`so far ${describe(progress)}`)
  }
}
