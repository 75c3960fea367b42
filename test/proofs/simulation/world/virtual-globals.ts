import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { Random } from '../plan/random.ts'
import type { Timeline } from './timeline.ts'

/**
 * Puts the clock of the whole process under a timeline, until disposed, and the timers of the run inside it: what core,
 * the S3 adapter and the SDK take from globals. The timers of other code, such as the test runner's, keep their own time.
 * Only code that runs for an actor draws from `random`: the test runner draws at times that no seed repeats.
 */
export function installVirtualGlobals(timeline: Timeline, random: Random): Disposable {
  const timers = createTimers(timeline)
  const now = (): number => timeline.now + (timeline.actor()?.process.skewMs ?? 0)
  const { randomBytes, randomUUID } = crypto
  const abortLater = AbortSignal.timeout.bind(AbortSignal)
  const mathRandom = Math.random
  const isSimulated = (): boolean => timeline.actor() !== undefined
  const restores = [
    ...Object.entries(timers).map(([name, value]) => replace(globalThis, name, value)),
    replace(performance, 'now', () => timeline.now),
    replace(Date, 'now', now),
    replace(Math, 'random', () => (isSimulated() ? random.next() : mathRandom())),
    replace(AbortSignal, 'timeout', (ms: number) =>
      timeline.isInside() ? abortAfter(timeline, ms) : abortLater(ms),
    ),
    replace(crypto, 'randomBytes', (size: number) =>
      isSimulated() ? drawBytes(random, size) : randomBytes(size),
    ),
    replace(crypto, 'randomUUID', () => (isSimulated() ? drawUuid(random) : randomUUID())),
  ]
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      for (const restore of restores) restore()
      syncBuiltinESMExports()
    },
  }
}

function replace(target: object, name: string, value: unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(target, name)
  Object.defineProperty(target, name, { value, configurable: true, writable: true })
  return () => {
    if (original === undefined) Reflect.deleteProperty(target, name)
    else Object.defineProperty(target, name, original)
  }
}

type Callback = (...values: unknown[]) => void

/** What a virtual timer is to those who hold one. */
class Timer {
  readonly cancel: () => void
  readonly #restart: () => void

  constructor({ cancel, restart }: { readonly cancel: () => void; readonly restart: () => void }) {
    this.cancel = cancel
    this.#restart = restart
  }

  refresh(): this {
    this.cancel()
    this.#restart()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

/** Timers in virtual time. Code from outside the run gets those of the process. */
function createTimers(timeline: Timeline) {
  const { setTimeout: later, setInterval: repeatedly, clearTimeout: forget } = globalThis

  function setTimeout(callback: Callback, ms = 1, ...values: unknown[]) {
    if (!timeline.isInside()) return later(callback, ms, ...values)
    let cancel = (): void => undefined
    const run = (): void => callback(...values)
    const arm = (): void => {
      cancel = timeline.add({ after: Math.max(1, ms), label: `timer ${ms} ms`, run })
    }
    arm()
    return new Timer({ cancel: () => cancel(), restart: arm })
  }

  function setInterval(callback: Callback, ms = 1, ...values: unknown[]) {
    if (!timeline.isInside()) return repeatedly(callback, ms, ...values)
    let cancel = (): void => undefined
    const arm = (): void => {
      cancel = timeline.add({ after: Math.max(1, ms), label: `interval ${ms} ms`, run })
    }
    const run = (): void => {
      arm()
      callback(...values)
    }
    arm()
    return new Timer({ cancel: () => cancel(), restart: arm })
  }

  function clear(timer: Timer | NodeJS.Timeout): void {
    if (timer instanceof Timer) timer.cancel()
    else forget(timer)
  }

  return { setTimeout, setInterval, clearTimeout: clear, clearInterval: clear }
}

function abortAfter(timeline: Timeline, ms: number): AbortSignal {
  const stop = new AbortController()
  const run = (): void => stop.abort(new DOMException('The operation timed out', 'TimeoutError'))
  timeline.add({ after: ms, label: `signal ${ms} ms`, run })
  return stop.signal
}

function drawBytes(random: Random, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => random.below(256)))
}

/** A UUIDv4. */
function drawUuid(random: Random): string {
  const hex = drawBytes(random, 16).toString('hex')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
}
