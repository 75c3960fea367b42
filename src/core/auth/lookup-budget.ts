export interface LookupBudgetOptions {
  readonly max: number
  readonly everyMs: number
  readonly clock?: (() => number) | undefined
}

/** Allows `max` calls of `take` per `everyMs`: bounds the lookups for blocked addresses. */
export function createLookupBudget(options: LookupBudgetOptions) {
  const { max, everyMs, clock = () => performance.now() } = options
  let endsAt = Number.NEGATIVE_INFINITY
  let left = 0
  return {
    take(): boolean {
      const now = clock()
      if (now >= endsAt) [endsAt, left] = [now + everyMs, max]
      left -= 1
      return left >= 0
    },
  }
}
