import type { Command, StandaloneCommand } from '../command.ts'
import { BACKUP, COPY_PACK, RESTORE } from './backup.ts'
import { REBUILD } from './rebuild.ts'
import { VERIFY } from './verify.ts'

export const OPERATIONS: readonly (Command | StandaloneCommand)[] = [
  {
    words: ['sweep'],
    summary: 'run one sweep: remove garbage and the leftovers of crashes and failures',
    switches: ['trust-clock'],
    run: async ({ sweeper }, { printError, fail, interruption, switches }) => {
      const report = await sweeper.sweep({
        signal: interruption(),
        isClockTrusted: switches.has('trust-clock'),
        onWait: () => printError('Another instance is sweeping. Waiting for it to finish.'),
      })
      if (report.end !== 'complete') fail()
      return {
        end: report.end,
        expired_uploads: report.expiredUploads,
        removed_objects: report.removedObjects,
        failed_removals: report.failedRemovals,
        forgotten_uploads: report.forgottenUploads,
        purged_rows: report.purgedRows,
      }
    },
  },
  BACKUP,
  RESTORE,
  COPY_PACK,
  VERIFY,
  REBUILD,
  {
    words: ['migrate'],
    summary: 'migrate the database to this version (the service does so when it starts)',
    // Opening the services already migrates.
    run: async () => undefined,
  },
]
