/** Runs `work` when fewer than the permitted number of others run, in the order of the calls. Settles as `work` does. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>

export function createSemaphore(permits: number): Semaphore {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= permits) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The permit passes to the next in line.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
