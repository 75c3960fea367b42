/** Resolves after the delay, or as soon as the browser is online again. */
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

/** Exponential backoff with jitter, so that many clients do not retry at once. */
export function backOffMs(tries: number): number {
  const ms = Math.min(MAX_BACK_OFF_MS, 500 * 2 ** tries)
  return ms * (0.75 + Math.random() / 2)
}
