import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

/** One instance of the service, from its start to its crash. */
export interface Process {
  readonly name: string
  alive: boolean
  /** Until then nothing of it goes on, as after SIGSTOP. */
  pausedUntil: number
  /** How far its own clock is ahead, in milliseconds. */
  readonly skewMs: number
}

/** On whose behalf code runs: an operation inside a process. */
export interface Actor {
  readonly process: Process
  readonly name: string
  /** Of the client's operation; `undefined` for a sweep and for the start. */
  readonly operation: number | undefined
}

export interface Planned {
  /** Milliseconds from now. */
  readonly after: number
  readonly label: string
  /** Whether it happens outside the process, which may be dead or stopped by then. */
  readonly isOutside?: boolean
  readonly run: () => void | Promise<void>
}

interface Entry extends Planned {
  at: number
  readonly order: number
  readonly actor: Actor | undefined
}

/** Where virtual time begins: 2030, in milliseconds since 1970. */
export const EPOCH = Date.UTC(2030, 0, 1)

/**
 * All that is still to happen, in virtual time. Everything outside the service's own code is an entry here (an answer,
 * an effect, a byte of a client, a timer), and one entry happens at a time: the next one only when all that the one
 * before set off has come to rest.
 */
export class Timeline {
  now = EPOCH
  /** One line for each entry that happened. */
  readonly log: string[] = []
  readonly #context = new AsyncLocalStorage<Actor>()
  readonly #inside = new AsyncLocalStorage<true>()
  readonly #entries = new Set<Entry>()
  #order = 0

  /** The actor on whose behalf the running code runs. */
  actor(): Actor | undefined {
    return this.#context.getStore()
  }

  /** Whether the running code is of the run that `enter` has begun, and not of the test runner or another test. */
  isInside(): boolean {
    return this.#inside.getStore() === true
  }

  enter<T>(work: () => T): T {
    return this.#inside.run(true, work)
  }

  runAs<T>(actor: Actor, work: () => T): T {
    return this.#context.run(actor, work)
  }

  /** Plans something on behalf of the actor that asks. Returns how to take it back. */
  add(planned: Planned): () => void {
    const resume = AsyncLocalStorage.snapshot()
    const entry: Entry = {
      ...planned,
      at: this.now + planned.after,
      order: (this.#order += 1),
      actor: this.actor(),
      run: () => resume(planned.run),
    }
    this.#entries.add(entry)
    return () => void this.#entries.delete(entry)
  }

  /** Resolves when its turn has come. */
  wait(after: number, label: string): Promise<void> {
    return new Promise((resolve) => this.add({ after, label, run: resolve }))
  }

  /** Lets the next entry happen, and all that it sets off; answers whether there was one. */
  async step(): Promise<boolean> {
    const entry = this.#next()
    if (entry === undefined) return false
    this.#entries.delete(entry)
    this.now = Math.max(this.now, dueAt(entry))
    this.note(entry.label, entry.actor)
    await entry.run()
    await rest()
    return true
  }

  note(label: string, actor: Actor | undefined = this.actor()): void {
    const who = actor === undefined ? '-' : `${actor.process.name} ${actor.name}`
    this.log.push(`${((this.now - EPOCH) / 1000).toFixed(3)} ${who}: ${label}`)
  }

  /** Lets what a dead process has sent off arrive up to `ms` later. */
  delayOutside(process: Process, ms: number): void {
    for (const entry of this.#entries) {
      if (entry.isOutside === true && entry.actor?.process === process) entry.at += ms
    }
  }

  #next(): Entry | undefined {
    let next: Entry | undefined
    for (const entry of this.#entries) {
      if (isLost(entry)) this.#entries.delete(entry)
      else if (next === undefined || isBefore(entry, next)) next = entry
    }
    return next
  }
}

/** Resolves when microtasks and the stream machinery's ticks have run out; Node runs them all before an immediate. */
async function rest(): Promise<void> {
  await setImmediate()
}

function isLost({ actor, isOutside }: Entry): boolean {
  return isOutside !== true && actor?.process.alive === false
}

function dueAt({ at, actor, isOutside }: Entry): number {
  if (isOutside === true || actor === undefined) return at
  return Math.max(at, actor.process.pausedUntil)
}

function isBefore(a: Entry, b: Entry): boolean {
  return dueAt(a) < dueAt(b) || (dueAt(a) === dueAt(b) && a.order < b.order)
}
