import type { AuthorizedCaller } from '../users/caller.ts'
import { isAppError } from '../errors.ts'

export interface AccessWatch {
  /** Aborts, with the refusal as its reason, when the caller may no longer act. */
  readonly lost: AbortSignal
  /** Guarantees that nothing is verified any more. */
  stop(): void
}

/** Verifies a caller again every `everyMs` milliseconds. While that can't be decided, access counts as not lost. */
export function watchAccess(options: {
  readonly caller: Pick<AuthorizedCaller, 'reverify'>
  readonly everyMs: number
}): AccessWatch {
  const { caller, everyMs } = options
  const lost = new AbortController()
  const timer = setInterval(() => void verify(), everyMs).unref()

  async function verify(): Promise<void> {
    const refusal = await accessRefusal(caller)
    if (refusal !== undefined) lost.abort(refusal)
  }

  return { lost: lost.signal, stop: () => clearInterval(timer) }
}

/** Why the caller may no longer act; `undefined` when they may, or when that can't be found out. */
export async function accessRefusal(caller: Pick<AuthorizedCaller, 'reverify'>): Promise<unknown> {
  try {
    await caller.reverify()
    return undefined
  } catch (error) {
    return isAppError(error, 'unavailable') ? undefined : error
  }
}
