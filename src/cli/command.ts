import type { AuditTrail } from '../core/audit/audit-trail.ts'
import type { OperatorUseCases } from '../core/audit/auditing.ts'
import type { CopiedObjects, CopyPack } from '../core/objects/copy-pack.ts'
import type { Rebuilder } from '../core/rebuild/rebuilder.ts'
import type { Sweeper } from '../core/sweep/sweeper.ts'
import { parseUserId, type UserId } from '../core/users/user-id.ts'
import type { OverviewReader } from '../core/overview/overview.ts'
import type { Verifier } from '../core/verify/verifier.ts'
import { Bytes, type Result, type Row, type Scalar } from './render.ts'

export interface CommandServices extends OperatorUseCases {
  readonly overview: OverviewReader
  readonly auditTrail: AuditTrail
  readonly sweeper: Sweeper
  readonly verifier: Verifier
  readonly rebuilder: Rebuilder
  backup(file: string): Promise<{ readonly bytes: number }>
  /** Makes the object store the one that the database knows, and resolves to its identity. */
  adoptStore(): Promise<string>
  close(): Promise<void>
}

export interface Transfer {
  /** In bytes, like `total`. */
  readonly moved: number
  readonly total: number
}

interface CopyOptions {
  readonly onProgress: (transfer: Transfer) => void
  readonly signal: AbortSignal
}

export interface Copies {
  /** Stores a copy made by `copyTo` as the new object `target`. Leaves no local file and, if it rejects, no object. */
  send(
    options: CopyOptions & {
      readonly target: string
      readonly copyTo: (file: string) => Promise<unknown>
    },
  ): Promise<{ readonly bytes: number }>
  /** Restores a missing database from `source`; see `database/sqlite/restore.ts`. */
  restore(
    options: CopyOptions & { readonly source: string },
  ): Promise<{ readonly database: string; readonly bytes: number }>
  /** Copies the small objects that `to` lacks from `from`; see `object-store/filesystem/pack/copy-pack.ts`. */
  pack(options: CopyPack): Promise<CopiedObjects>
}

/** The words of a call. */
export interface CommandArguments {
  readonly operands: readonly string[]
  readonly flags: Readonly<Record<string, string>>
  readonly switches: ReadonlySet<string>
  readonly json: boolean
}

export interface Terminal {
  readonly printError: (line: string) => void
  /** Overwrites the last line of the terminal; `undefined` if `printError` does not write to one. */
  readonly drawLine: ((text: string) => void) | undefined
}

export interface CommandCall extends CommandArguments, Terminal {
  /** Prints immediately. The result of `run` is printed afterwards. */
  readonly print: (line: string) => void
  /** Sets the exit code to 1; the command continues. */
  readonly fail: () => void
  readonly copies: Copies
  /** For long commands: aborts on SIGINT and SIGTERM, which otherwise end the process at once. */
  readonly interruption: () => AbortSignal
}

interface CommandForm {
  readonly words: readonly string[]
  readonly operands?: readonly string[]
  readonly flags?: readonly string[]
  readonly switches?: readonly string[]
  /** The required ones of `flags` and `switches`. */
  readonly required?: readonly string[]
  readonly summary: string
}

export interface Command extends CommandForm {
  /** The switch with which it only reads, on any object store. */
  readonly acceptsAnyStoreWith?: string
  run(services: CommandServices, call: CommandCall): Promise<Result | undefined>
}

export interface StandaloneCommand extends CommandForm {
  runAlone(call: CommandCall): Promise<Result | undefined>
}

export function userIdOf([userId = '']: readonly string[]): UserId {
  return parseUserId(userId)
}

/** Returns `NaN`, which every limit refuses, unless `text` is decimal digits. */
export function parseCount(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

export function printFinding({ json, print }: CommandCall, row: Row): void {
  print(json ? JSON.stringify(row) : lineOf(row))
}

function lineOf({ kind, repaired, ...facts }: Row): string {
  const said = Object.entries(facts).filter(([, value]) => value !== null)
  const words = said.map(([name, value]) => `${name}=${exact(value)}`)
  return [String(kind).padEnd(17), ...words, ...(repaired === true ? ['repaired'] : [])].join(' ')
}

/** Not rounded: a difference of some bytes is a finding. */
function exact(value: Scalar): string {
  return value instanceof Bytes ? `${value.toJSON()} B` : JSON.stringify(value)
}

const EVERY_MS = 10_000

/** Returns a function that may be called at any rate and prints every 10 s. */
export function showProgress<T>(
  { printError }: Terminal,
  describe: (progress: T) => string,
): (progress: T) => void {
  let toldAt = performance.now()
  return (progress) => {
    if (performance.now() - toldAt < EVERY_MS) return
    toldAt = performance.now()
    printError(`Progress: ${describe(progress)}`)
  }
}
