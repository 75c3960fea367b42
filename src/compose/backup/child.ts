import { setPriority } from 'node:os'
import { messageOf } from '../../core/errors.ts'
import { BackupRunning, runBackup } from './run-backup.ts'
import type { BackupAnswer, BackupOrder } from './scheduled-backups.ts'

// A process of its own: copying the database blocks its thread, and the service can end it at once.
process.once('disconnect', () => process.exit())
process.once('message', (order: BackupOrder) => {
  void make(order).then((answer) => process.send?.(answer, () => process.disconnect()))
})

/** The lowest, so that requests have the processor first. */
const PRIORITY = 19

async function make({ places, directory, keep, version }: BackupOrder): Promise<BackupAnswer> {
  setPriority(PRIORITY)
  let findings = 0
  try {
    const made = await runBackup({
      places,
      directory,
      keep,
      version,
      onFinding: () => (findings += 1),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    })
    return { made: { ...made, findings } }
  } catch (error) {
    if (error instanceof BackupRunning) return { isElsewhere: true }
    return { failure: messageOf(error) }
  }
}
