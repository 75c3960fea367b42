import { addAbortListener } from 'node:events'

const CALLBACKS = new WeakMap<AbortSignal, Set<() => void>>()

/** As `addAbortListener`, also for a signal that thousands share: Node looks through all listeners to add or remove one. */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  if (signal.aborted) return addAbortListener(signal, callback)
  const callbacks = CALLBACKS.get(signal) ?? listenTo(signal)
  callbacks.add(callback)
  return { [Symbol.dispose]: () => void callbacks.delete(callback) }
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>()
  CALLBACKS.set(signal, callbacks)
  addAbortListener(signal, () => {
    for (const callback of callbacks) callback()
  })
  return callbacks
}
