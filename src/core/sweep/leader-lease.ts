import { sleep } from '../async/sleep.ts'

/** Lets one instance at a time run a background job. */
export type LeaderLease = ReturnType<typeof createLeaderLease>

/** No holder asks for a longer lease, so the clock was ahead when a lease began that ends later. */
export const LONGEST_LEASE_MS = 60_000

/** PORT: leases in the database. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface LeaderLeases {
  /**
   * Acquires or renews the leader lease for `leaseMs` from now. Resolves to `false` if another holder's lease is
   * running; one that ends later than `LONGEST_LEASE_MS` from now is over. The lease only saves work. Correctness must
   * not depend on it: a late holder loses the lease without noticing.
   */
  acquireLeaderLease(claim: LeaderLeaseClaim & { readonly leaseMs: number }): Promise<boolean>

  /** Does nothing if the holder no longer has the lease. */
  releaseLeaderLease(claim: LeaderLeaseClaim): Promise<void>
}

/** One candidate for the leader lease of a background job. */
export interface LeaderLeaseClaim {
  readonly name: 'sweep' | 'webhooks' | 'daily_usage'
  /** Unique to each candidate. */
  readonly holder: string
}

export interface LeaderLeaseOptions extends LeaderLeaseClaim {
  readonly ledger: LeaderLeases
  readonly leaseMs: number
}

const ASK_AGAIN_MS = 1_000

/** Once acquired, renews the lease three times per term. */
export function createLeaderLease(options: LeaderLeaseOptions) {
  const { ledger, name, holder, leaseMs } = options
  let endsAt = 0
  let renewal: NodeJS.Timeout | undefined
  let renewing: Promise<unknown> = Promise.resolve()

  async function hold(): Promise<boolean> {
    const askedAt = performance.now()
    const isHeld = await ledger.acquireLeaderLease({ name, holder, leaseMs })
    endsAt = isHeld ? askedAt + leaseMs : 0
    return isHeld
  }

  function renew(): void {
    // The next renewal repeats a failed one, and the holder checks `isHeld` before each step.
    renewing = hold().catch(() => undefined)
  }

  return {
    /** Resolves to whether the lease was acquired. If it is taken and `onWait` is given, calls that once and waits. */
    async acquire(signal: AbortSignal, onWait?: () => void): Promise<boolean> {
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
    /** Whether the lease is held, and will be for `forMs` milliseconds. Renews it if need be. */
    async isHeld(forMs = 0): Promise<boolean> {
      return performance.now() + forMs < endsAt || (await hold())
    },
    /** Never rejects. */
    async release(): Promise<void> {
      clearInterval(renewal)
      await renewing
      // If this fails, the lease expires.
      await ledger.releaseLeaderLease({ name, holder }).catch(() => undefined)
    },
  }
}
