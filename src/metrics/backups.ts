import type { LastBackup } from '../core/backup/backup-folder.ts'
import type { BackupHooks } from '../core/backup/backup-schedule.ts'
import type { Instruments } from './instruments.ts'
import { createScrape, type Scrape } from './scrape.ts'

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

/** Of the newest complete backup, whoever has made it. Shows nothing if there is none, or its folder cannot be read. */
export function createBackupScrape(
  { backups }: Instruments,
  findLast: (() => Promise<LastBackup | undefined>) | undefined,
): Scrape {
  return createScrape({
    clear() {
      backups?.completion.remove()
      backups?.findings.remove()
    },
    async read() {
      const last = await findLast?.()
      if (last === undefined) return
      backups?.completion.set(last.completedAt / 1000)
      backups?.findings.set(last.findings)
    },
  })
}
