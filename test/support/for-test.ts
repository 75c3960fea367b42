import { onTestFinished } from 'vitest'

/** A stack that is disposed of when the running test is over, the newest such stack first. Not for concurrent tests. */
export function forTest(): AsyncDisposableStack {
  const opened = new AsyncDisposableStack()
  onTestFinished(() => opened.disposeAsync())
  return opened
}
