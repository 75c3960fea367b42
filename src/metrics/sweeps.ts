import type { ClockHooks } from '../core/clock/safe-clock.ts'
import type { SweepFigures, Sweeper } from '../core/sweep/sweeper.ts'
import type { Instruments } from './instruments.ts'

export function meterSweeper(sweeper: Sweeper, instruments: Instruments): Sweeper {
  const { swept, sweeps, lastSweep } = instruments
  function progress(): (figures: SweepFigures) => void {
    let before: Partial<SweepFigures> = {}
    return (figures) => {
      for (const figure of FIGURES) swept[figure].inc(figures[figure] - (before[figure] ?? 0))
      before = figures
    }
  }

  function noteLast(began: number, tookMs: number): void {
    lastSweep.start.set(began / 1000)
    lastSweep.end.set((began + tookMs) / 1000)
    lastSweep.duration.set(tookMs / 1000)
  }

  return {
    async sweep({ signal, maxMs, onProgress, onWait, isClockTrusted }) {
      const count = progress()
      const began = Date.now()
      const startedAt = performance.now()
      let end = 'failed'
      try {
        const report = await sweeper.sweep({
          signal,
          maxMs,
          onProgress: (figures) => {
            count(figures)
            onProgress?.(figures)
          },
          onWait,
          isClockTrusted,
        })
        end = report.end
        return report
      } finally {
        sweeps.inc({ end })
        if (end !== 'elsewhere') noteLast(began, performance.now() - startedAt)
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

export function createClockHooks({ clock }: Instruments): ClockHooks {
  return {
    onLead: (ms) => clock.lead.set(ms / 1000),
    onJump: (ms) => clock.jumps.inc({ direction: ms > 0 ? 'ahead' : 'back' }),
  }
}
