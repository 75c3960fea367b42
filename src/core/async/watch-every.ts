export interface Watch extends Disposable {
  /** Aborts with the reason of the loss. */
  readonly lost: AbortSignal
}

/** Calls `findLoss`, which never rejects, every `everyMs` until disposed. It resolves to the reason of a loss, if any. */
export function watchEvery(everyMs: number, findLoss: () => Promise<unknown>): Watch {
  const lost = new AbortController()
  async function watch(): Promise<void> {
    const reason = await findLoss()
    if (reason !== undefined) lost.abort(reason)
  }
  const timer = setInterval(() => void watch(), everyMs).unref()
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(timer) }
}
