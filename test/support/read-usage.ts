import type { Ledger } from '../../src/database/ledger.ts'
import type { Usage } from '../../src/core/users/account-ledger.ts'
import type { UserId } from '../../src/core/users/user-id.ts'

/** The figures of a user; `undefined` for one who is unknown or deleted. */
export async function readUsage(
  ledger: Pick<Ledger, 'reportCapacity'>,
  userId: UserId,
): Promise<Usage | undefined> {
  return (await ledger.reportCapacity(userId))?.usage
}
