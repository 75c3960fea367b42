import { CROWD_SETTINGS, DeviceCrowd } from './device-crowd.ts'
import { startInstances } from './instances.ts'
import type { Tally } from './tally.ts'
import { openWorld, type Places } from './world.ts'

export interface DeviceRunOptions {
  readonly places: Places
  /** Each has one kill. */
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (tally: Tally) => void
  /** Ends the rounds early; what has been done by then is checked as ever. */
  readonly signal?: AbortSignal
}

export interface DeviceFigures {
  readonly tally: Tally
  readonly evicted: number
  readonly taken: number
  readonly sweeps: number
  readonly seconds: number
}

/** Has a crowd of two devices work on two instances, on SQLite too, and resolves to what it found. */
export async function runDevices(options: DeviceRunOptions): Promise<DeviceFigures> {
  const { places, rounds, seed, onRound = () => {} } = options
  const isEnding = (): boolean => options.signal?.aborted === true
  const startedAt = performance.now()
  const settings = CROWD_SETTINGS
  await using world = await openWorld({ ...places, hasWebhooks: false, settings })
  await using opened = new AsyncDisposableStack()
  const instances = await startInstances(world, { count: 2, opened })
  const crowd = await DeviceCrowd.open({ world, instances, seed })
  const { tally } = crowd
  while (tally.kills < rounds && !isEnding()) {
    await crowd.round()
    onRound(tally)
  }
  const sweeps = await crowd.settle()
  const { evicted, taken } = crowd
  return { tally, evicted, taken, sweeps, seconds: (performance.now() - startedAt) / 1000 }
}
