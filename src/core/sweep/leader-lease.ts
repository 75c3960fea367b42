import { sleep } from '../async/sleep.ts'
import type { LeaderLeaseClaim, SweepLedger } from '../ledger/sweep-ledger.ts'

/** Lets one instance at a time run a background job. */
export interface LeaderLease {
  /** Resolves to whether the lease was acquired. If it is taken and `onWait` is given, calls that once and waits. */
  acquire(options: {
    readonly signal: AbortSignal
    readonly onWait: (() => void) | undefined
  }): Promise<boolean>
  isHeld(): Promise<boolean>
  /** Never rejects. */
  release(): Promise<void>
}

export interface LeaderLeaseOptions extends LeaderLeaseClaim {
  readonly ledger: SweepLedger
  readonly leaseMs: number
}

const ASK_AGAIN_MS = 1_000

/** Once acquired, renews the lease three times per term. */
export function createLeaderLease({ ledger, leaseMs, ...claim }: LeaderLeaseOptions): LeaderLease {
  let endsAt = 0
  let renewal: NodeJS.Timeout | undefined
  let renewing: Promise<unknown> = Promise.resolve()

  async function hold(): Promise<boolean> {
    const askedAt = performance.now()
    const isHeld = await ledger.acquireLeaderLease({ ...claim, leaseMs })
    endsAt = isHeld ? askedAt + leaseMs : 0
    return isHeld
  }

  function renew(): void {
    // The next renewal repeats a failed one, and the holder checks `isHeld` before each step.
    renewing = hold().catch(() => undefined)
  }

  return {
    async acquire({ signal, onWait }) {
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
    async release() {
      clearInterval(renewal)
      await renewing
      // If this fails, the lease expires.
      await ledger.releaseLeaderLease(claim).catch(() => undefined)
    },
  }
}
