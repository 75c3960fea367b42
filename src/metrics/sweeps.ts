import type { SweepFigures, Sweeper } from '../core/sweep/sweeper.ts'
import type { Instruments } from './instruments.ts'

export function meterSweeper(sweeper: Sweeper, { swept, sweeps, lastSweep }: Instruments): Sweeper {
  function progress(): (figures: SweepFigures) => void {
    let before: Partial<SweepFigures> = {}
    return (figures) => {
      for (const figure of FIGURES) swept[figure].inc(figures[figure] - (before[figure] ?? 0))
      before = figures
    }
  }

  function noteLast(began: number, ended: number): void {
    lastSweep.start.set(began / 1000)
    lastSweep.end.set(ended / 1000)
    lastSweep.duration.set((ended - began) / 1000)
  }

  return {
    async sweep({ signal, onProgress, onWait }) {
      const count = progress()
      const began = Date.now()
      let end = 'failed'
      try {
        const report = await sweeper.sweep({
          signal,
          onProgress: (figures) => {
            count(figures)
            onProgress?.(figures)
          },
          onWait,
        })
        end = report.end
        return report
      } finally {
        sweeps.inc({ end })
        if (end !== 'elsewhere') noteLast(began, Date.now())
      }
    },
    async expire(signal) {
      const expired = await sweeper.expire(signal)
      swept.expiredUploads.inc(expired)
      return expired
    },
  }
}

const FIGURES = [
  'expiredUploads',
  'removedObjects',
  'failedRemovals',
  'forgottenUploads',
  'purgedRows',
] as const
