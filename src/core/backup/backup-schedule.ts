import { sleep } from '../async/sleep.ts'
import { type LastBackup } from './backup-folder.ts'
import type { BackupResult } from './results.ts'

export interface ScheduledBackup extends BackupResult {
  /** How many findings there were: objects that the copy lacks, or an older copy that is damaged. */
  readonly findings: number
}

export interface BackupHooks {
  readonly onMade: (made: ScheduledBackup) => void
  readonly onFailed: (error: unknown) => void
}

export interface BackupSchedule extends BackupHooks {
  readonly everyMs: number
  /** Of the folder, whoever has made it. */
  readonly findLast: () => Promise<LastBackup | undefined>
  /** Resolves to `undefined` if another process is making one. Stops at once when the signal aborts. */
  readonly make: (signal: AbortSignal) => Promise<ScheduledBackup | undefined>
  /** Milliseconds since 1970, for tests, as the others. */
  readonly clock?: (() => number) | undefined
  readonly pollMs?: number | undefined
  readonly retryMs?: number | undefined
}

/**
 * Makes a backup whenever the newest one in the folder is older than `everyMs`, until the signal aborts. Several instances
 * can do so: the newest backup tells all of them when the next one is due, also after a restart. A failed one is repeated
 * later. Never rejects.
 */
export async function runBackupSchedule(
  schedule: BackupSchedule,
  signal: AbortSignal,
): Promise<void> {
  const { pollMs = POLL_MS, retryMs = RETRY_MS, everyMs, onFailed } = schedule
  const rest = (ms: number): Promise<void> => sleep(ms, signal).catch(() => undefined)
  const wait = createWait(schedule)
  while (!signal.aborted) {
    try {
      const waitMs = await wait()
      // In parts, because the command or another instance may make one meanwhile.
      if (waitMs > 0) await rest(Math.min(waitMs, pollMs))
      else await makeOne(schedule, { signal, rest: () => rest(pollMs) })
    } catch (error) {
      if (signal.aborted) return
      onFailed(error)
      await rest(Math.min(everyMs, retryMs))
    }
  }
}

const POLL_MS = 60_000
const RETRY_MS = 15 * 60_000

/** Returns what tells how long to wait until the next backup is due: 0 or less if it is. */
function createWait({ everyMs, findLast, clock = Date.now }: BackupSchedule) {
  let found: { readonly at: number; readonly since: number } | undefined
  return async () => {
    const now = clock()
    const last = await findLast()
    if (last === undefined) return 0
    if (last.at !== found?.at) found = { at: last.at, since: now }
    // One from before the clock was set back is as old as this process has known it.
    return Math.min(last.at, found.since) + everyMs - now
  }
}

interface Making {
  readonly signal: AbortSignal
  readonly rest: () => Promise<void>
}

async function makeOne({ make, onMade }: BackupSchedule, { signal, rest }: Making): Promise<void> {
  const made = await make(signal)
  if (made === undefined) await rest()
  else onMade(made)
}
