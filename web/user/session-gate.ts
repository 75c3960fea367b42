import { unlessAborted } from '../../client/src/http/abort.ts'

/** Holds back what the page does for its user while another one may be signing in: requests carry whatever cookie is there. */
export interface SessionGate {
  readonly isClosed: () => boolean
  /** Called before a sign-in, in this tab or another one. */
  readonly close: () => void
  /** Called when it is known that the user of the page is still the one who is signed in. */
  readonly open: () => void
  /** The same `fetch`, which sends each request, and each repetition of one, once the gate is open. */
  readonly behind: (send: typeof fetch) => typeof fetch
}

/** Open at first. */
export function createSessionGate(): SessionGate {
  let opening: PromiseWithResolvers<void> | undefined

  async function pass(signal: AbortSignal | undefined): Promise<void> {
    if (opening === undefined) return
    await unlessAborted(opening.promise, signal)
    // It may be closed again by now.
    await pass(signal)
  }

  return {
    isClosed: () => opening !== undefined,

    close() {
      opening ??= Promise.withResolvers<void>()
    },

    open() {
      opening?.resolve()
      opening = undefined
    },

    behind: (send) => async (url, init) => {
      await pass(init?.signal ?? undefined)
      return send(url, init)
    },
  }
}
