import { createVersion } from '../objects/object-key.ts'
import type { UserId } from '../users/user-id.ts'
import type { ActionDetails, ActionName, AuditLedger } from './audit-ledger.ts'

/** An action and its details, under the names of the admin API. */
export type OperatorEvent = ActionDetails & {
  readonly action: ActionName
  readonly user_id?: UserId
}

/** What sent the action. */
interface Origin {
  /** `undefined` for the `ADMIN_TOKEN`. */
  readonly operator: string | undefined
  readonly address: string
  readonly requestId: string
}

/** What operators did in the last 400 days, but at most the 100,000 newest actions. It outlives the users. */
export type AuditTrail = ReturnType<typeof createAuditTrail>

export function createAuditTrail(ledger: AuditLedger) {
  return {
    /** Guarantees that the action, which has taken effect, is listed. `origin` is `undefined` for the command line. */
    record: ({ action, user_id: userId, ...details }: OperatorEvent, origin?: Origin) =>
      ledger.recordOperatorAction({
        actionId: createVersion(),
        action,
        userId,
        operator: origin?.operator,
        details,
        address: origin?.address,
        requestId: origin?.requestId,
      }),

    /** As `AuditLedger.listOperatorActions`. */
    list: (page: Parameters<AuditLedger['listOperatorActions']>[0]) =>
      ledger.listOperatorActions(page),
  }
}

export const ACTIONS_KEPT_MS = 400 * 24 * 60 * 60_000
export const MAX_ACTIONS = 100_000
