import { type ReadonlySignal, signal } from '@preact/signals'
import { failureOf } from '../shared/error-message.ts'

/** What the service says of something, read again and again. */
export interface Watched<Value> {
  /** `undefined` until the first read ends. */
  readonly value: ReadonlySignal<Value | undefined>
  /** Why the last read failed. */
  readonly problem: ReadonlySignal<string | undefined>
  /** Reads it again. Never rejects. */
  read(): Promise<void>
  /** As `read`, but does nothing during a read. */
  refresh(): Promise<void>
}

export function createWatched<Value>(ask: () => Promise<Value>): Watched<Value> {
  const value = signal<Value>()
  const problem = signal<string>()
  let lastAsked = 0
  let pending = 0

  /** Only the result of the latest read counts. */
  async function read(): Promise<void> {
    const asked = (lastAsked += 1)
    pending += 1
    try {
      const answer = await ask()
      if (asked !== lastAsked) return
      value.value = answer
      problem.value = undefined
    } catch (error) {
      if (asked === lastAsked) problem.value = failureOf(error)
    } finally {
      pending -= 1
    }
  }

  async function refresh(): Promise<void> {
    if (pending === 0) await read()
  }

  return { value, problem, read, refresh }
}
