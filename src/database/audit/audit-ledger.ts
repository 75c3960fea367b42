import { sql } from 'kysely'
import type {
  ActionDetails,
  AuditLedger,
  NewOperatorAction,
  OperatorAction,
} from '../../core/audit/audit-ledger.ts'
import { safeNow } from '../ledger/safe-now.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import { fromRow, type Row } from '../ledger/rows.ts'

export const AUDIT_OPERATIONS = {
  // Of operators, who must be able to look for what they delete. An action that is refused is not recorded.
  recordOperatorAction: { through: 'query', run: record, effect: 'frees' },
  listOperatorActions: { through: 'readInOrder', run: list, effect: 'reads' },
  forgetOperatorActions: { through: 'query', run: forget, effect: 'frees' },
} as const satisfies Operations<AuditLedger>

async function record({ db, now }: LedgerTx, entry: NewOperatorAction): Promise<void> {
  const { actionId, action, userId = null, operator = null, details } = entry
  const { address = null, requestId = null } = entry
  await sql`
    INSERT INTO operator_actions (action_id, at, action, user_id, operator, details, address, request_id)
    VALUES (${actionId}, ${now}, ${action}, ${userId}, ${operator}, ${JSON.stringify(details)},
      ${address}, ${requestId})
    ON CONFLICT (action_id) DO NOTHING
  `.execute(db)
}

async function list(
  { db }: LedgerTx,
  { userId, operator, after, limit }: Parameters<AuditLedger['listOperatorActions']>[0],
): Promise<readonly OperatorAction[]> {
  const ofUser = userId === undefined ? sql`` : sql`AND user_id = ${userId}`
  const ofOperator = operator === undefined ? sql`` : sql`AND operator = ${operator}`
  const { rows } = await sql<ActionRow>`
    SELECT action_id AS "actionId", at, action, user_id AS "userId", operator, details,
      address, request_id AS "requestId"
    FROM operator_actions WHERE action_id < ${after ?? BEHIND_ALL_IDS} ${ofUser} ${ofOperator}
    ORDER BY action_id DESC LIMIT ${limit}
  `.execute(db)
  return rows.map(toAction)
}

type ActionRow = Row<Omit<OperatorAction, 'details'>> & { readonly details: string }

function toAction(row: ActionRow): OperatorAction {
  const action = fromRow<Omit<OperatorAction, 'details'>>(row)
  return { ...action, details: JSON.parse(row.details) as ActionDetails }
}

/** Ids are hexadecimal. */
const BEHIND_ALL_IDS = 'g'

async function forget(
  { db, now }: LedgerTx,
  { lifetimeMs, most, limit }: Parameters<AuditLedger['forgetOperatorActions']>[0],
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM operator_actions
    WHERE action_id IN (SELECT action_id FROM operator_actions ORDER BY action_id LIMIT ${limit})
      AND (
        at < ${safeNow({ now })} - ${lifetimeMs} OR action_id <= (
          SELECT action_id FROM operator_actions ORDER BY action_id DESC LIMIT 1 OFFSET ${most}
        )
      )
  `.execute(db)
  return Number(numAffectedRows)
}
