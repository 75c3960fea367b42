import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../config/config.ts'
import { findLastBackup, type LastBackup } from '../../core/backup/backup-folder.ts'
import {
  type BackupHooks,
  runBackupSchedule,
  type ScheduledBackup,
} from '../../core/backup/backup-schedule.ts'
import type { EmbeddedPlaces } from '../../core/backup/placement.ts'
import { embeddedPlacesOf } from '../copies.ts'

/** Returns `undefined` without `BACKUP_DIR`. */
export function createScheduledBackups(config: Config, version: string) {
  const { directory, everyMs, keep } = config.backups
  if (directory === undefined) return undefined
  const order = { places: embeddedPlacesOf(config), directory, keep, version }
  return {
    everyMs,
    /** Resolves to `undefined` also if the folder cannot be read. */
    findLast: (): Promise<LastBackup | undefined> =>
      findLastBackup(directory).catch(() => undefined),
    /** See `runBackupSchedule`. */
    run: (hooks: BackupHooks, signal: AbortSignal): Promise<void> =>
      runBackupSchedule(
        {
          ...hooks,
          everyMs,
          findLast: () => findLastBackup(directory),
          make: (signal) => makeInChild(order, signal),
        },
        signal,
      ),
  }
}

export interface BackupOrder {
  readonly places: EmbeddedPlaces
  readonly directory: string
  readonly keep: number
  readonly version: string
}

export interface BackupAnswer {
  readonly made?: ScheduledBackup
  /** Another process is making one. */
  readonly isElsewhere?: true
  readonly failure?: string
}

async function makeInChild(
  order: BackupOrder,
  signal: AbortSignal,
): Promise<ScheduledBackup | undefined> {
  signal.throwIfAborted()
  // What it needs is in the order, and it shall not have the secrets.
  const child = fork(CHILD, {
    env: {},
    execArgv: [MAX_HEAP],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  let answer: BackupAnswer | undefined
  child.on('message', (message) => (answer = message as BackupAnswer))
  child.send(order)
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null]
    signal.throwIfAborted()
    const { made, isElsewhere, failure } = answer ?? {}
    if (made !== undefined || isElsewhere) return made
    throw new Error(failure ?? `The process of the backup ended with ${code ?? killedBy}.`)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

/** In MiB. V8 would let the heap grow with the number of files, although none of them is kept. */
const MAX_HEAP = '--max-old-space-size=64'

/** With the extension of this file: source or build output. */
const CHILD = fileURLToPath(new URL(`child${extname(import.meta.filename)}`, import.meta.url))
