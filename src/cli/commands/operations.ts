import type { Command, StandaloneCommand } from '../command.ts'
import { BACKUP, RESTORE } from './backup.ts'
import { REBUILD } from './rebuild.ts'
import { VERIFY } from './verify.ts'

export const OPERATIONS: readonly (Command | StandaloneCommand)[] = [
  {
    words: ['sweep'],
    summary: 'settle what crashes and failures left, once',
    run: async ({ sweeper }, { printError, fail, interruption }) => {
      const report = await sweeper.sweep({
        signal: interruption(),
        onWait: () => printError('Another instance sweeps; waiting for its end.'),
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
  VERIFY,
  REBUILD,
  {
    words: ['migrate'],
    summary: 'bring the database to this version (the service does so at its start)',
    // Opening the services already migrates.
    run: async () => undefined,
  },
]
