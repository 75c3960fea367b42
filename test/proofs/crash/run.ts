import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from '../simulation/plan/random.ts'
import { Instance } from './instances.ts'
import { Killer } from './killer.ts'
import { PassingTime } from './resumable/passing-time.ts'
import { Load } from './load.ts'
import { Oracle } from './oracle.ts'
import { watchQuotas } from './quotas.ts'
import { JournalWatch, settle } from './settle.ts'
import { Tally } from './tally.ts'
import { openWorld, type Places, type World } from './world.ts'

export interface RunOptions {
  readonly places: Places
  readonly kills: number
  readonly seed: number
  /** Beside those, kills of the server of the object store, evenly spread; none when left out. */
  readonly storeKills?: number
  /** The load goes on until there have been that many requests too; 0 when left out. */
  readonly requests?: number
  /** How long an instance is left alone at most before it is aimed at, in milliseconds. */
  readonly mostUptimeMs?: number
  /** Of the sweeps at the end, where no killed sweeper has to be waited for. */
  readonly mostSweeps?: number
  readonly onProgress?: (tally: Tally) => void
  /** Ends the killing early; what has been done by then is checked as ever. */
  readonly signal?: AbortSignal
  /**
   * Called between the load and the checks, to see whether they notice, with the ids of `unfinished` resumable uploads.
   */
  readonly plant?: (world: World, unfinished: readonly string[]) => Promise<void>
  readonly unfinished?: number
}

export interface Figures {
  readonly tally: Tally
  /** That it took at the end until nothing was left; more than two count as a violation. */
  readonly sweeps: number
  readonly seconds: number
}

/**
 * Has clients work on real instances of the service while these are killed and started again, and holds everything that
 * the clients see, and all that is left at the end, against what may be. Rejects when an instance dies by itself.
 */
export async function runCrash(options: RunOptions): Promise<Figures> {
  const { places, seed, kills, storeKills = 0, mostUptimeMs = 1_200, plant } = options
  const { onProgress = () => {} } = options
  const isEnding = (): boolean => options.signal?.aborted === true
  const startedAt = performance.now()
  const tally = new Tally()
  const retentionMs = storeKills > 0 ? LATE_WRITE_MS : undefined
  await using world = await openWorld({ ...places, retentionMs })
  const died = new AbortController()
  const { signal } = died
  const instances = await startInstances(world, { places, died })
  const killer = new Killer({ instances, tally, random: createRandom(seed), mostUptimeMs, signal })
  const load = new Load({
    world,
    instances,
    oracle: new Oracle(),
    tally,
    time: new PassingTime(world.database),
    seed,
    signal,
    onLastByte: (instance) => killer.onLastByte(instance),
  })
  const journal = new JournalWatch(world)
  const ended = new AbortController()
  const progress = setInterval(() => onProgress(tally), PROGRESS_MS)
  const watching = Promise.all([
    journal.watch(ended.signal),
    watchQuotas(world, tally, ended.signal),
  ])
  async function kill(): Promise<void> {
    while (tally.kills < kills && !isEnding()) {
      const isStoreDue = tally.kills >= ((tally.storeKills + 1) * kills) / (storeKills + 1)
      if (isStoreDue) await killer.killStore(places.restartS3)
      await killer.killOne((instance, random) => load.probe(instance, random))
    }
    while (tally.requests < (options.requests ?? 0)) await delay(20, undefined, { signal })
    load.finish()
    await killer.settled()
  }
  try {
    await Promise.all([load.run(), kill()])
    await plant?.(world, await load.leaveUnfinished(options.unfinished ?? 0))
    await load.readAll()
    signal.throwIfAborted()
  } finally {
    load.finish()
    ended.abort()
    clearInterval(progress)
    const codes = await Promise.all(instances.map((instance) => instance.stop()))
    const wrong = codes.filter((code) => code !== 0)
    if (wrong.length > 0) tally.report('other', `an instance ended with ${String(wrong[0])}`)
    await watching
  }
  const sweeps = await settle({ world, tally, journal, mostSweeps: options.mostSweeps })
  if (sweeps > 2) tally.report('orphan', `it took ${sweeps} sweeps until nothing was left`)
  return { tally, sweeps, seconds: (performance.now() - startedAt) / 1000 }
}

const PROGRESS_MS = 10_000

/** After a crash, SeaweedFS stores what it was sent in its first half minute, also if its client has given up. */
const LATE_WRITE_MS = 180_000

/** Two where the database allows it. */
async function startInstances(
  world: World,
  { places, died }: { readonly places: Places; readonly died: AbortController },
): Promise<readonly [Instance, ...Instance[]]> {
  const onDeath = (reason: string): void =>
    died.abort(new Error(`An instance died by itself: ${reason}`))
  const first = await Instance.start(world, onDeath)
  return places.postgres === undefined ? [first] : [first, await Instance.start(world, onDeath)]
}
