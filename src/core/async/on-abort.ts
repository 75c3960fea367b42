import { addAbortListener } from 'node:events'

interface Listening {
  readonly callbacks: Set<() => void>
  readonly listener: Disposable
}

const LISTENING = new WeakMap<AbortSignal, Listening>()

/**
 * As `addAbortListener`, also for a signal that thousands share: Node looks through all listeners to add or remove one.
 * Leaves nothing at the signal once all are disposed: Node keeps a signal of `AbortSignal.timeout` that has a listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  if (signal.aborted) return addAbortListener(signal, callback)
  const { callbacks, listener } = LISTENING.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return {
    [Symbol.dispose]() {
      if (!callbacks.delete(callback) || callbacks.size > 0) return
      LISTENING.delete(signal)
      listener[Symbol.dispose]()
    },
  }
}

function listenTo(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>()
  const listener = addAbortListener(signal, () => {
    for (const callback of callbacks) callback()
  })
  const listening = { callbacks, listener }
  LISTENING.set(signal, listening)
  return listening
}
