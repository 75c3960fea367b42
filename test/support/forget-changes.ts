import type { SweepLedger } from '../../src/core/sweep/sweep-ledger.ts'
import type { UserId } from '../../src/core/users/user-id.ts'

/** Forgets all changes and parked webhooks of that age. */
export async function forgetChanges(
  ledger: Pick<SweepLedger, 'forgetChanges'>,
  age: { readonly lifetimeMs: number; readonly limit: number },
): Promise<void> {
  let after: UserId | undefined
  for (;;) {
    const { forgotten, last } = await ledger.forgetChanges({ ...age, after })
    after = last
    if (forgotten === 0 && last === undefined) return
  }
}
