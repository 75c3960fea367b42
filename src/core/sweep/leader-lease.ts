import { sleep } from '../async/sleep.ts'
import type { Chore, SweepLedger } from '../ledger/sweep-ledger.ts'

/** A chore that one instance does for all, and the lease that says which. */
export interface LeaderLease {
  /** Whether it could be had; it is then kept. With `onWait` it is waited for, and `onWait` called before. */
  begin(options: {
    readonly signal: AbortSignal
    readonly onWait: (() => void) | undefined
  }): Promise<boolean>
  /** Whether the chore is still ours. */
  isHeld(): Promise<boolean>
  /** Lets others have it. Never rejects. */
  end(): Promise<void>
}

export interface LeaderLeaseOptions extends Chore {
  readonly ledger: SweepLedger
  /** How long after a crash nobody does the chore, in milliseconds. */
  readonly leaseMs: number
}

const ASK_AGAIN_MS = 1_000

/** Renews the lease of the chore, once it has begun, several times in each of its terms. */
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
    // One that fails is repeated; whether the chore was lost meanwhile is asked before each of its steps.
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
      // What fails here ends by itself with the lease.
      await ledger.leaveChore(chore).catch(() => undefined)
    },
  }
}
