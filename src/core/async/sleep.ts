import { settledUnlessAborted } from './deadline.ts'

/** Resolves after `ms`, on a later iteration of the event loop even for 0; rejects when `signal` aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await settledUnlessAborted(promise, signal).finally(() => clearTimeout(timer))
}
