import { isAppError } from '../../../../src/core/errors.ts'
import { STOP_INTERVAL_MS } from '../plan/parameters.ts'
import type { Instance, World } from './world.ts'

/** While appends run, an instance asks every second which of them others want to take over. */
export function askWhichToStop(world: World, instance: Instance): void {
  if (instance.isAsking) return
  const { timeline, report } = world
  const { process, uploads, appends } = instance
  const tick = (): void => {
    instance.isAsking = appends.size > 0
    if (!instance.isAsking) return
    uploads.stopAsked().catch((error: unknown) => {
      if (!isAppError(error, 'unavailable')) report(error)
    })
    plan()
  }
  const plan = (): void =>
    timeline.runAs({ process, name: 'stops', operation: undefined }, () => {
      timeline.add({ after: STOP_INTERVAL_MS, label: 'asks which to stop', run: tick })
    })
  instance.isAsking = true
  plan()
}
