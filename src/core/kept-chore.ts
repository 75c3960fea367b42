import { pause } from './pause.ts'
import type { Chore, SweepLedger } from './sweep-ledger.ts'

/** A chore that one instance does for all, and the lease that says which. */
export interface KeptChore {
  /** Whether it could be had. With `onWait` it is waited for, and `onWait` called before. */
  begin(options: {
    readonly signal: AbortSignal
    readonly onWait: (() => void) | undefined
  }): Promise<boolean>
  /** Prolongs the lease when some of it is used up; answers whether the chore is still ours. */
  keep(): Promise<boolean>
  /** Lets others have it. Never rejects. */
  end(): Promise<void>
}

/**
 * Longer than a page of removals takes, so that it is lost to a crash alone. Until then nobody does the chore, which
 * the work of it can wait for.
 */
const LEASE_MS = 5 * 60_000

const RENEW_AFTER_MS = LEASE_MS / 4
const ASK_AGAIN_MS = 1_000

export function keepChore({
  ledger,
  ...chore
}: Chore & { readonly ledger: SweepLedger }): KeptChore {
  let renewedAt = 0

  async function hold(): Promise<boolean> {
    const askedAt = performance.now()
    const isOurs = await ledger.holdChore({ ...chore, leaseMs: LEASE_MS })
    renewedAt = askedAt
    return isOurs
  }

  return {
    async begin({ signal, onWait }) {
      if (await hold()) return true
      if (onWait === undefined) return false
      onWait()
      do await pause(ASK_AGAIN_MS, signal)
      while (!(await hold()))
      return true
    },
    async keep() {
      return performance.now() - renewedAt < RENEW_AFTER_MS || (await hold())
    },
    async end() {
      // What fails here ends by itself with the lease.
      await ledger.leaveChore(chore).catch(() => undefined)
    },
  }
}
