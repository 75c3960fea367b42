import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../simulation/plan/random.ts'
import type { Instance } from './instances.ts'
import { MOMENTS } from './resumable/moments.ts'
import type { Tally } from './tally.ts'

export interface KillerOptions {
  readonly instances: readonly [Instance, ...Instance[]]
  readonly tally: Tally
  readonly random: Random
  readonly mostUptimeMs: number
  /** Aborts when an instance that should be up will not be. */
  readonly signal: AbortSignal
}

/**
 * Kills at random moments: a third just after an instance was sent the last byte of an upload, a third exactly at a
 * moment in the life of a resumable upload.
 */
export class Killer {
  readonly #options: KillerOptions
  readonly #restarts = new Set<Promise<void>>()
  #aim: { readonly instance: Instance; readonly hit: () => void } | undefined

  constructor(options: KillerOptions) {
    this.#options = options
  }

  onLastByte(instance: Instance): void {
    if (this.#aim?.instance === instance) this.#aim.hit()
  }

  /** Kills one that is up; does not wait for its successor, whom `onRestart` meets. */
  async killOne(onRestart: (instance: Instance, random: Random) => Promise<void>): Promise<void> {
    const { instances, tally, random, mostUptimeMs, signal } = this.#options
    const instance = random.pick(instances)
    while (!instance.isUp) await delay(5, undefined, { signal })
    await delay(random.below(mostUptimeMs))
    const aim = random.next()
    if (aim < 0.35) await this.#killAtMoment(instance)
    else if (aim < 0.7 && (await this.#lastByteOf(instance))) {
      tally.aimedKills += 1
      await delay(random.below(MOST_COMMIT_MS))
    }
    tally.kills += 1
    const isByHeap = instance.isUp && random.chance(0.1)
    if (isByHeap) tally.heapKills += 1
    const restart = instance
      .kill(isByHeap ? 'full heap' : 'SIGKILL')
      .then(() => onRestart(instance, random))
    this.#restarts.add(restart)
    void restart.finally(() => this.#restarts.delete(restart))
    if (instances.length === 1) await restart
  }

  /** Kills the server of the object store; resolves when an upload has been acknowledged again. */
  async killStore(restart: (() => Promise<void>) | undefined): Promise<void> {
    const { tally, random, mostUptimeMs, signal } = this.#options
    if (restart === undefined) throw new Error('This object store cannot be killed')
    // An instance starts only if its store answers.
    await this.settled()
    await delay(random.below(mostUptimeMs))
    tally.storeKills += 1
    await restart()
    const { acknowledgedUploads } = tally
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(STORE_RETURN_MS)])
    while (tally.acknowledgedUploads === acknowledgedUploads)
      await delay(20, undefined, { signal: inTime })
  }

  async settled(): Promise<void> {
    await Promise.all(this.#restarts)
  }

  async #killAtMoment(instance: Instance): Promise<void> {
    const { tally, random } = this.#options
    const moment = random.pick(MOMENTS)
    if (!(await instance.diesAt(moment, MOMENT_TIMEOUT_MS))) return
    tally.momentKills[moment] = (tally.momentKills[moment] ?? 0) + 1
  }

  /** Whether one came in time. */
  async #lastByteOf(instance: Instance): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#aim = { instance, hit: () => resolve(true) }
    const timer = setTimeout(() => resolve(false), AIM_TIMEOUT_MS)
    const isHit = await promise
    clearTimeout(timer)
    this.#aim = undefined
    return isHit
  }
}

const MOST_COMMIT_MS = 40
const AIM_TIMEOUT_MS = 2_000
/** SeaweedFS takes half a minute until it writes again. */
const STORE_RETURN_MS = 180_000
/** Some moments are rare. */
const MOMENT_TIMEOUT_MS = 4_000
