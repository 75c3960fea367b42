import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { SweepFigures, Sweeper } from '../core/sweep/sweeper.ts'

export function meterSweeper(sweeper: Sweeper, registry: Registry): Sweeper {
  const registers = [registry]
  const counters = FIGURES.map(([figure, name, help]) => ({
    figure,
    counter: new Counter({ name: `cloud_repository_${name}_total`, help, registers }),
  }))
  const expirations = counters.find(({ figure }) => figure === 'expiredUploads')?.counter
  const ends = new Counter({
    name: 'cloud_repository_sweeps_total',
    help: 'Sweeps of this instance by outcome; elsewhere: another instance was sweeping.',
    labelNames: ['end'],
    registers,
  })
  for (const end of ['complete', 'gave_up', 'elsewhere', 'failed']) ends.inc({ end }, 0)
  const last = lastSweep(registers)

  function progress(): (figures: SweepFigures) => void {
    let before: Partial<SweepFigures> = {}
    return (figures) => {
      for (const { figure, counter } of counters) {
        counter.inc(figures[figure] - (before[figure] ?? 0))
      }
      before = figures
    }
  }

  return {
    async sweep(request) {
      const count = progress()
      const { onProgress = () => undefined } = request
      const began = Date.now()
      let end = 'failed'
      try {
        const report = await sweeper.sweep({
          ...request,
          onProgress: (figures) => {
            count(figures)
            onProgress(figures)
          },
        })
        end = report.end
        return report
      } finally {
        ends.inc({ end })
        if (end !== 'elsewhere') last({ began, ended: Date.now() })
      }
    },
    async expire(signal) {
      const expired = await sweeper.expire(signal)
      expirations?.inc(expired)
      return expired
    },
  }
}

type Counted = Exclude<keyof SweepFigures, 'firstFailure'>

const FIGURES = [
  [
    'expiredUploads',
    'expired_uploads',
    'Uploads that were aborted because their lease had expired.',
  ],
  ['removedObjects', 'removed_objects', 'Object keys that the sweeper has cleared.'],
  ['failedRemovals', 'failed_removals', 'Failed attempts to remove an object.'],
  ['forgottenUploads', 'forgotten_uploads', 'Settled uploads that were removed from the journal.'],
  ['purgedRows', 'purged_rows', 'Rows of deleted users that were removed from the database.'],
] as const satisfies readonly (readonly [Counted, string, string])[]

function lastSweep(registers: Registry[]): (sweep: { began: number; ended: number }) => void {
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `cloud_repository_last_sweep_${name}_seconds`, help, registers })
  const start = gauge(
    'start_timestamp',
    'When the last sweep of this instance started, excluding the outcome elsewhere.',
  )
  const end = gauge(
    'end_timestamp',
    'When the last sweep of this instance ended, excluding the outcome elsewhere.',
  )
  const duration = gauge(
    'duration',
    'How long the last sweep of this instance took, excluding the outcome elsewhere.',
  )
  return ({ began, ended }) => {
    start.set(began / 1000)
    end.set(ended / 1000)
    duration.set((ended - began) / 1000)
  }
}
