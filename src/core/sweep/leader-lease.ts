import { sleep } from '../async/sleep.ts'
import type { Chore, SweepLedger } from '../ledger/sweep-ledger.ts'

/** The lease of a chore that one instance does for all. */
export interface LeaderLease {
  /** Returns whether the lease was acquired. With `onWait` it waits for the lease, and calls `onWait` once before. */
  begin(options: {
    readonly signal: AbortSignal
    readonly onWait: (() => void) | undefined
  }): Promise<boolean>
  isHeld(): Promise<boolean>
  /** Releases the lease. Never rejects. */
  end(): Promise<void>
}

export interface LeaderLeaseOptions extends Chore {
  readonly ledger: SweepLedger
  readonly leaseMs: number
}

const ASK_AGAIN_MS = 1_000

/** Renews the lease three times per term after `begin`. */
export function keepLeaderLease({ ledger, leaseMs, ...chore }: LeaderLeaseOptions): LeaderLease {
  let endsAt = 0
  let renewal: NodeJS.Timeout | undefined
  let renewing: Promise<unknown> = Promise.resolve()

  async function hold(): Promise<boolean> {
    const askedAt = performance.now()
    const isHeld = await ledger.holdChore({ ...chore, leaseMs })
    endsAt = isHeld ? askedAt + leaseMs : 0
    return isHeld
  }

  function renew(): void {
    // The next renewal repeats a failed one, and the chore checks `isHeld` before each step.
    renewing = hold().catch(() => undefined)
  }

  return {
    async begin({ signal, onWait }) {
      let isHeld = await hold()
      if (!isHeld && onWait === undefined) return false
      if (!isHeld) onWait?.()
      while (!isHeld) {
        await sleep(ASK_AGAIN_MS, signal)
        isHeld = await hold()
      }
      renewal = setInterval(renew, leaseMs / 3).unref()
      return true
    },
    async isHeld() {
      return performance.now() < endsAt || (await hold())
    },
    async end() {
      clearInterval(renewal)
      await renewing
      // If this fails, the lease expires.
      await ledger.leaveChore(chore).catch(() => undefined)
    },
  }
}
