import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { send } from '../crash/request.ts'
import type { Target } from './target.ts'

/** What the watch over a service has seen. */
export interface Health {
  /** The longest time between a request for `/livez` and its answer, less what this process was held up itself. */
  readonly longestStallMs: number
  /** Bytes of memory that the service held when it was warm, and at the end; `undefined` where nobody says. */
  readonly residentAtStart: number | undefined
  readonly residentAtEnd: number | undefined
}

/** Asks the service again and again, from a connection of its own, whether it lives. */
export class HealthWatch {
  #longestStallMs = 0
  #residentAtStart: number | undefined
  readonly #target: Target
  readonly #ending = new AbortController()
  readonly #watching: Promise<void>

  constructor(target: Target, port: number) {
    this.#target = target
    this.#watching = this.#watch(port)
  }

  /** To be called when the service has warmed up. */
  async onWarm(): Promise<void> {
    this.#residentAtStart = await this.#target.residentBytes()
  }

  async stop(): Promise<Health> {
    this.#ending.abort()
    await this.#watching
    return {
      longestStallMs: this.#longestStallMs,
      residentAtStart: this.#residentAtStart,
      residentAtEnd: await this.#target.residentBytes(),
    }
  }

  async #watch(port: number): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    while (!this.#ending.signal.aborted && this.#target.isAlive) {
      const askedAt = performance.now()
      let heldUpMs = 0
      let tickAt = askedAt
      // This process reads answers late when it is held up itself, which is no fault of the service.
      const ticking = setInterval(() => {
        heldUpMs += Math.max(0, performance.now() - tickAt - 2 * TICK_MS)
        tickAt = performance.now()
      }, TICK_MS)
      await send({ agent, port, method: 'GET', path: '/livez' })
      clearInterval(ticking)
      const stallMs = performance.now() - askedAt - heldUpMs
      this.#longestStallMs = Math.max(this.#longestStallMs, stallMs)
      await delay(PAUSE_MS)
    }
    agent.destroy()
  }
}

const TICK_MS = 10
const PAUSE_MS = 50
