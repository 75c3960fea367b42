import type { UserId } from '../users/user-id.ts'
import type { GrantPeriodLedger, GrantBoundary, GrantBoundaryKind } from './grant-period-ledger.ts'

const BOUNDARIES_PER_PAGE = 100

/** Reading the same period again is cheaper than writing each time how far it was read. */
const ADVANCE_MS = 10 * 60_000

export function createGrantPeriods(ledger: GrantPeriodLedger) {
  return {
    /**
     * Records what grants that have begun or ended since the last call make of their users' capacity. Every instance
     * may call it at any time. Tries every user; then rejects with the first failure, or before that with the signal's
     * reason, and the next call begins again where this one did.
     */
    async note(signal: AbortSignal): Promise<void> {
      const { from, to } = await ledger.readGrantClock()
      const failures: unknown[] = []
      let boundaries = 0
      for (const kind of ['starts', 'ends'] as const) {
        for await (const { userId } of boundariesOf(ledger, { kind, from, to })) {
          signal.throwIfAborted()
          boundaries += 1
          await ledger.noteCapacity({ userId, since: from }).catch((error: unknown) => {
            failures.push(error)
          })
        }
      }
      if (failures.length > 0) throw failures[0]
      if (boundaries > 0 || to - from > ADVANCE_MS) await ledger.advanceGrantClock(to)
    },
  }
}

async function* boundariesOf(
  ledger: GrantPeriodLedger,
  period: { readonly kind: GrantBoundaryKind; readonly from: number; readonly to: number },
): AsyncGenerator<GrantBoundary> {
  const { kind, from, to } = period
  let after: GrantBoundary = { at: from, userId: LAST_USER }
  for (let isLast = false; !isLast;) {
    const page = await ledger.listGrantBoundaries({ kind, after, to, limit: BOUNDARIES_PER_PAGE })
    yield* page
    after = page.at(-1) ?? after
    isLast = page.length < BOUNDARIES_PER_PAGE
  }
}

/** After all ids: the period begins after its first moment. */
const LAST_USER = '~' as UserId
