import type { Ledger } from '../ledger/ledger.ts'
import type { Version } from '../objects/version.ts'

export interface Lease {
  /**
   * Aborts when the lease could not be renewed for as long as it runs. Whoever works under it must stop then: the
   * sweeper may have given the upload up, and some day its journal row is forgotten, so that nobody would look for
   * what is still written.
   */
  readonly lost: AbortSignal
  /** Ends the renewal. It settles nothing. */
  stop(): void
}

/** Renews an upload's lease, which has just begun, several times in each of its terms. */
export function keepLease(options: {
  readonly ledger: Ledger
  readonly version: Version
  readonly leaseMs: number
}): Lease {
  const { ledger, version, leaseMs } = options
  const lost = new AbortController()
  let endsAt = performance.now() + leaseMs

  async function renew(): Promise<void> {
    const askedAt = performance.now()
    try {
      await ledger.renew({ version, leaseMs })
      endsAt = askedAt + leaseMs
    } catch (error) {
      // Before that it may be a hiccup, and in the end the compare-and-set of the commit decides.
      if (performance.now() >= endsAt) lost.abort(error)
    }
  }

  const renewal = setInterval(() => void renew(), leaseMs / 3).unref()
  return { lost: lost.signal, stop: () => clearInterval(renewal) }
}
