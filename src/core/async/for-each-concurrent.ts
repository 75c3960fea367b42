/** Runs at most `max` calls at once. After a rejection no more start; rejects once the running ones have settled. */
export async function forEachConcurrent<T>(
  items: readonly T[],
  max: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const failures: unknown[] = []
  async function worker(): Promise<void> {
    for (const item of waiting) {
      if (failures.length > 0) return
      try {
        await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
