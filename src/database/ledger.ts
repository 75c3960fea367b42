import type { AuditLedger } from '../core/audit/audit-ledger.ts'
import type { ChangeLedger } from '../core/changes/change-ledger.ts'
import type { FileLedger } from '../core/files/file-ledger.ts'
import type { HistoryLedger } from '../core/history/history-ledger.ts'
import type { GrantPeriodLedger } from '../core/quota/grant-period-ledger.ts'
import type { BacklogLedger } from '../core/sweep/backlog-ledger.ts'
import type { OperatorLedger } from '../core/operators/operator-ledger.ts'
import type { OverviewLedger } from '../core/overview/overview-ledger.ts'
import type { LinkLedger } from '../core/links/link-ledger.ts'
import type { ClockLedger } from '../core/clock/clock-ledger.ts'
import type { LeaderLeases } from '../core/sweep/leader-lease.ts'
import type { SweepLedger } from '../core/sweep/sweep-ledger.ts'
import type { ResumableLedger } from '../core/resumable/resumable-ledger.ts'
import type { UploadLedger } from '../core/uploads/upload-ledger.ts'
import type { AccountLedger } from '../core/users/account-ledger.ts'
import type { UserSearchLedger } from '../core/users/user-search.ts'
import type { WebhookLedger } from '../core/webhooks/webhook-ledger.ts'
import { AUDIT_OPERATIONS } from './audit/audit-ledger.ts'
import { GRANT_PERIOD_OPERATIONS } from './quota/grant-periods.ts'
import { CHANGE_OPERATIONS } from './changes/read.ts'
import { CLOCK_OPERATIONS } from './clock/clock-ledger.ts'
import type { Database } from './database.ts'
import { FILE_OPERATIONS } from './files/file-ledger.ts'
import { HISTORY_OPERATIONS } from './history/history-ledger.ts'
import { LINK_OPERATIONS } from './links/link-ledger.ts'
import { OPERATOR_OPERATIONS } from './operators/operator-ledger.ts'
import { OVERVIEW_OPERATIONS } from './overview/overview-ledger.ts'
import { RESUMABLE_OPERATIONS } from './resumable/resumable-ledger.ts'
import { BACKLOG_OPERATIONS } from './sweep/backlog.ts'
import { LEADER_LEASE_OPERATIONS } from './sweep/leader-leases.ts'
import { SWEEP_OPERATIONS } from './sweep/sweep-ledger.ts'
import { UPLOAD_OPERATIONS } from './uploads/upload-ledger.ts'
import { ACCOUNT_OPERATIONS } from './users/accounts.ts'
import { USER_SEARCH_OPERATIONS } from './users/search-users.ts'
import { WEBHOOK_OPERATIONS } from './webhooks/webhook-ledger.ts'
import { createMethods, type Operations } from './operations/operation.ts'
import { createSession, type LedgerOptions } from './operations/session.ts'

/** All ports of the ledger. Each use case takes only those that it needs. */
export interface Ledger
  extends
    UploadLedger,
    ResumableLedger,
    FileLedger,
    HistoryLedger,
    LinkLedger,
    AccountLedger,
    UserSearchLedger,
    SweepLedger,
    BacklogLedger,
    ClockLedger,
    LeaderLeases,
    ChangeLedger,
    GrantPeriodLedger,
    WebhookLedger,
    OverviewLedger,
    OperatorLedger,
    AuditLedger {}

/** The row of each operation stands in the folder with the name of its port's. */
export const LEDGER_OPERATIONS = {
  ...UPLOAD_OPERATIONS,
  ...RESUMABLE_OPERATIONS,
  ...FILE_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...LINK_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...USER_SEARCH_OPERATIONS,
  ...SWEEP_OPERATIONS,
  ...BACKLOG_OPERATIONS,
  ...LEADER_LEASE_OPERATIONS,
  ...CLOCK_OPERATIONS,
  ...CHANGE_OPERATIONS,
  ...GRANT_PERIOD_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...OVERVIEW_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...AUDIT_OPERATIONS,
} as const satisfies Operations<Ledger>

/** The WHERE of an UPDATE decides, never an earlier read. The lock on the user's `quotas` row orders transactions. */
export function createLedger(database: Database, options: LedgerOptions): Ledger {
  return createMethods<Ledger>(LEDGER_OPERATIONS, createSession(database, options))
}
