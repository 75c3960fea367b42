/** Resolves after so long, or as soon as the browser says that there is a network again. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      removeEventListener('online', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    addEventListener('online', finish)
  })
}

const MAX_BACK_OFF_MS = 15_000

/** How long to wait after so many tries that failed, so that many who wait do not come back at once. */
export function backOffMs(tries: number): number {
  const ms = Math.min(MAX_BACK_OFF_MS, 500 * 2 ** tries)
  return ms * (0.75 + Math.random() / 2)
}
