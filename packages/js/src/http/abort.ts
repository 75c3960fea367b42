/** The part of a page that is used, so that the types do not need the DOM. */
interface Page {
  readonly navigator?: { readonly onLine?: boolean }
  addEventListener(type: string, listener: () => void, options: { readonly once: true }): void
}

/** Ends earlier if the browser is offline and comes back. Rejects with the reason of the signal as soon as it aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const page = globalThis as unknown as Page
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
    if (page.navigator?.onLine === false)
      page.addEventListener('online', () => resolve(), { once: true })
  })
  try {
    await unlessAborted(elapsed, signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The result of a promise, unless the signal has aborted or aborts before: then rejects with its reason at once. */
export async function unlessAborted<T>(
  promise: T | Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise
  let abort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
  try {
    // Handles the rejection of `promise` in any case.
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
