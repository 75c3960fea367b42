import type { ServiceCommand } from '../command.ts'

export const SWEEP: ServiceCommand = {
  usage: 'sweep [--trust-clock]',
  summary: 'run one sweep: remove garbage and the leftovers of crashes and failures',
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
}
