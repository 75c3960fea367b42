import type { BackupHooks } from '../core/backup/backup-schedule.ts'
import type { Instruments } from './instruments.ts'

/** Records failures, then calls the hooks. */
export function meterBackups(hooks: BackupHooks, { backups }: Instruments): BackupHooks {
  return {
    ...hooks,
    onFailed(error) {
      backups?.failure.set(Date.now() / 1000)
      hooks.onFailed(error)
    },
  }
}
