/**
 * Wraps `run` so that calls share it: a call waits for a run that begins after the call, and one run is in progress at a
 * time.
 */
export function shareRuns(run: () => Promise<unknown>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  async function runAfter(previous: Promise<void>): Promise<void> {
    await previous.catch(() => undefined)
    // From here on, a call is too late for this run.
    next = undefined
    await run()
  }

  return () => {
    if (next === undefined) {
      next = runAfter(last)
      last = next
    }
    return next
  }
}
