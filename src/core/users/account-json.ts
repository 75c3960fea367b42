import { capacityFigures } from '../quota/capacity.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { Account } from './account-ledger.ts'

/** A user with their figures, under the names of the admin API. */
export function accountJson({ user, usage }: Account) {
  return {
    user_id: user.userId,
    status: user.status,
    created_at: formatTimestamp(user.createdAt),
    capacity: capacityFigures(usage),
  }
}
