import type { BackupHooks } from '../core/backup/backup-schedule.ts'
import type { Instruments } from './instruments.ts'

interface MeteredBackups {
  readonly everyMs: number
  readonly instruments: Instruments
}

/** Notes findings and failures, then calls the hooks. */
export function meterBackups(
  hooks: BackupHooks,
  { everyMs, instruments: { backups } }: MeteredBackups,
): BackupHooks {
  backups?.interval.set(everyMs / 1000)
  return {
    onMade(made) {
      backups?.findings.set(made.findings)
      hooks.onMade(made)
    },
    onFailed(error) {
      backups?.failure.set(Date.now() / 1000)
      hooks.onFailed(error)
    },
  }
}
