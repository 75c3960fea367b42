import type { Balance } from './inventory.ts'
import type { Finding, VerifyRun } from './run.ts'

/** Compares what a user's quota records with a recount of the same moment; `repair` recounts under the user's lock. */
export async function verifyQuota(run: VerifyRun, balance: Balance): Promise<void> {
  const { userId, isUser } = balance
  const drift = driftOf(balance)
  if (drift.length === 0) return
  const repaired = run.repair && isUser
  if (repaired) await run.inventory.recount(userId)
  for (const found of drift) {
    // To whom the figures of an unknown user belong is nothing that a recount could settle.
    run.report({ ...found, userId, repaired: repaired && found.kind !== 'stray_quota' })
  }
}

type Drift = Pick<Finding, 'kind' | 'recorded' | 'found'>

function driftOf({ isUser, recorded, counted }: Balance): readonly Drift[] {
  if (recorded === undefined) return [{ kind: 'missing_quota' }]
  const figures: readonly Drift[] = [
    { kind: 'used_bytes', recorded: recorded.used, found: counted.used },
    { kind: 'reserved_bytes', recorded: recorded.reserved, found: counted.reserved },
    { kind: 'file_count', recorded: recorded.fileCount, found: counted.fileCount },
    { kind: 'garbage_bytes', recorded: recorded.garbage, found: counted.garbage },
  ]
  const drift = figures.filter(({ recorded, found }) => recorded !== found)
  return isUser ? drift : [{ kind: 'stray_quota' }, ...drift]
}
