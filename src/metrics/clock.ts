import type { ClockHooks } from '../core/clock/safe-clock.ts'
import type { Instruments } from './instruments.ts'

export function createClockHooks({ clock }: Instruments): ClockHooks {
  return {
    onLead: (ms) => clock.lead.set(ms / 1000),
    onJump: (ms) => clock.jumps.inc({ direction: ms > 0 ? 'ahead' : 'back' }),
  }
}
