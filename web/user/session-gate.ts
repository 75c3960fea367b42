import { unlessAborted } from '../../packages/js/src/http/abort.ts'

/** Holds back what the page does for its user while another one may be signing in: requests carry whatever cookie is there. */
export interface SessionGate {
  readonly isClosed: () => boolean
  /** Closes the gate until the returned function is called, and that of every other hold. */
  readonly hold: () => () => void
  /** The same `fetch`, which sends each request, and each repetition of one, once the gate is open. */
  readonly behind: (send: typeof fetch) => typeof fetch
}

export function createSessionGate(): SessionGate {
  const holds = new Set<symbol>()
  let opening = Promise.withResolvers<void>()

  async function pass(signal: AbortSignal | undefined): Promise<void> {
    if (holds.size === 0) return
    await unlessAborted(opening.promise, signal)
    // It may be closed again by now.
    await pass(signal)
  }

  return {
    isClosed: () => holds.size > 0,

    hold() {
      const mine = Symbol('hold')
      holds.add(mine)
      return () => {
        holds.delete(mine)
        if (holds.size > 0) return
        opening.resolve()
        opening = Promise.withResolvers<void>()
      }
    },

    behind: (send) => async (url, init) => {
      await pass(init?.signal ?? undefined)
      return send(url, init)
    },
  }
}
