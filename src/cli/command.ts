import type { BackupFinding } from '../core/backup/finding.ts'
import type {
  BackupResult,
  CheckedBackup,
  CopiedContents,
  RestoredBackup,
} from '../core/backup/results.ts'
import type { CopiedObjects, CopyPack } from '../core/objects/copy-pack.ts'
import type { Rebuilder } from '../core/rebuild/rebuilder.ts'
import type { ReleasedFrom } from '../core/resumable/release-finished.ts'
import type { Sweeper } from '../core/sweep/sweeper.ts'
import type { Verifier } from '../core/verify/verifier.ts'
import type { Admin, Json, Method } from './admin.ts'
import type { Result } from './render.ts'

export interface CommandServices extends ReleasedFrom {
  readonly sweeper: Sweeper
  readonly verifier: Verifier
  readonly rebuilder: Rebuilder
  /** Makes the object store the one that the database knows, and resolves to its identity. */
  adoptStore(): Promise<string>
  /** `onUnrecorded` is called with each failure of the audit trail; what the call has done stands. */
  readonly openAdmin: (onUnrecorded: (error: unknown) => void) => Promise<Admin>
  close(): Promise<void>
}

export interface Transfer {
  /** In bytes, like `total`. */
  readonly moved: number
  readonly total: number
}

interface CopyOptions {
  /** Called whenever more bytes have moved. */
  readonly onProgress: (transfer: Transfer) => void
  readonly signal: AbortSignal
}

interface FolderOptions {
  readonly directory: string
  readonly onFinding: (finding: BackupFinding) => void
  /** Called once if a backup to the folder is running, whose end the call waits for. */
  readonly onWait: () => void
  readonly signal: AbortSignal
}

export interface Copies {
  /**
   * Adds a complete copy to a folder; see `compose/backup/run-backup.ts`. Keeps the newest `keep` copies, `BACKUP_KEEP`
   * by default. Rejects with `NotEmbedded`, as `restoreFrom` does.
   */
  backUp(
    options: Omit<FolderOptions, 'onWait'> & {
      readonly keep: number | undefined
      readonly onProgress: (copied: CopiedContents) => void
    },
  ): Promise<BackupResult>
  /** Checks all copies in a folder, with any settings; see `compose/backup/check-backup.ts`. */
  check(
    options: FolderOptions & { readonly onProgress: (checked: CheckedBackup) => void },
  ): Promise<CheckedBackup>
  /** Restores a copy, the newest by default, to an empty `DATA_DIR`; see `compose/backup/restore-backup.ts`. */
  restoreFrom(
    options: FolderOptions & {
      readonly time: string | undefined
      readonly onProgress: (copied: CopiedContents) => void
    },
  ): Promise<RestoredBackup>
  /**
   * Stores a copy of the database, or what `copyTo` writes to a file, as the new object `target`. Leaves no local file
   * and, if it rejects, no object.
   */
  send(
    options: CopyOptions & {
      readonly target: string
      readonly copyTo?: (file: string) => Promise<unknown>
    },
  ): Promise<{ readonly bytes: number }>
  /** Restores a missing database from `source`; see `database/sqlite/restore.ts`. */
  restore(
    options: CopyOptions & { readonly source: string },
  ): Promise<{ readonly database: string; readonly bytes: number }>
  /** Copies the small objects that `to` lacks from `from`; see `object-store/filesystem/pack/copy-pack.ts`. */
  pack(options: CopyPack): Promise<CopiedObjects>
}

/** The settings name a database or an object store that has tools of its own for this: exit code 2. */
export class NotEmbedded extends Error {}

export type Flags = Readonly<Record<string, string | undefined>>

/** The words of a call. */
export interface CommandArguments {
  /** By their names; optional ones can be missing. */
  readonly operands: Flags
  readonly flags: Flags
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
  /** Says that the audit trail lacks what the command has done. */
  readonly onUnrecorded: (error: unknown) => void
  /** For long commands: aborts on SIGINT and SIGTERM, which otherwise end the process at once. */
  readonly interruption: () => AbortSignal
}

export interface CommandForm {
  /** Such as `grants add <user_id> --bytes ... [--ends-at ...]`; `usage.ts` reads it. */
  readonly usage: string
  readonly summary: string
}

/** A call of the admin API. */
export interface AdminCommand extends CommandForm {
  /** Of these, the first whose path has only parameters that are operands of the call. */
  readonly calls: readonly (readonly [method: Method, path: `/admin/${string}`])[]
  /** The query of a GET, the members of another method's body; by default the flags, and operands that no path has. */
  readonly input?: (given: Flags, switches: ReadonlySet<string>) => Json
  /**
   * What people see of the answer, or of each entry: paths of members, and what stands for `null`, such as
   * `scope.actions=all`. By default all members, and theirs.
   */
  readonly columns?: string
  /** Replaces `columns`. */
  readonly text?: (answer: Json) => string
}

export interface ServiceCommand extends CommandForm {
  /** The switch with which it only reads, on any object store. */
  readonly acceptsAnyStoreWith?: string
  run(services: CommandServices, call: CommandCall): Promise<Result | undefined>
}

export interface StandaloneCommand extends CommandForm {
  runAlone(call: CommandCall): Promise<Result | undefined>
}

export type Command = AdminCommand | ServiceCommand | StandaloneCommand
