import { setImmediate } from 'node:timers/promises'

/**
 * Stops this thread for `ms`, as a suspended machine does: the timers that are due by then run before anything is read.
 * `arrive` is called when it begins.
 */
export async function stall(ms: number, arrive = (): void => {}): Promise<void> {
  // Timers come right behind this phase of the event loop.
  await setImmediate()
  arrive()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
