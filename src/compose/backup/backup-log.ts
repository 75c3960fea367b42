import type { FastifyBaseLogger } from 'fastify'
import type { BackupHooks } from '../../core/backup/backup-schedule.ts'

export function logBackups(logger: FastifyBaseLogger): BackupHooks {
  return {
    onMade(made) {
      if (made.findings === 0) logger.info(made, 'backup finished')
      else logger.error(made, 'backup finished with findings; "backup --check" lists them')
    },
    onFailed: (err) => logger.error({ err }, 'backup failed; it is tried again later'),
  }
}
