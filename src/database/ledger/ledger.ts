import type { AuditLedger } from '../../core/audit/audit-ledger.ts'
import type { ChangeLedger } from '../../core/changes/change-ledger.ts'
import type { FileLedger } from '../../core/files/file-ledger.ts'
import type { HistoryLedger } from '../../core/history/history-ledger.ts'
import type { GrantPeriodLedger } from '../../core/quota/grant-period-ledger.ts'
import type { BacklogLedger } from '../../core/sweep/backlog-ledger.ts'
import type { OverviewLedger } from '../../core/overview/overview-ledger.ts'
import type { LinkLedger } from '../../core/links/link-ledger.ts'
import type { ClockLedger } from '../../core/clock/clock-ledger.ts'
import type { LeaderLeases } from '../../core/sweep/leader-lease.ts'
import type { SweepLedger } from '../../core/sweep/sweep-ledger.ts'
import type { ResumableLedger } from '../../core/resumable/resumable-ledger.ts'
import type { UploadLedger } from '../../core/uploads/upload-ledger.ts'
import type { AccountLedger } from '../../core/users/account-ledger.ts'
import type { WebhookLedger } from '../../core/webhooks/webhook-ledger.ts'
import type { Database } from '../database.ts'
import { createAuditLedger } from '../audit/audit-ledger.ts'
import { createGrantPeriodLedger } from '../changes/grant-periods.ts'
import { createChangeLedger } from '../changes/read.ts'
import { createFileLedger } from '../files/file-ledger.ts'
import { createHistoryLedger } from '../history/history-ledger.ts'
import { createLinkLedger } from '../links/link-ledger.ts'
import { createOverviewLedger } from '../overview/overview-ledger.ts'
import { createResumableLedger } from '../resumable/resumable-ledger.ts'
import { createBacklogLedger } from '../sweep/backlog.ts'
import { createClockLedger } from '../clock/clock-ledger.ts'
import { createLeaderLeases } from '../sweep/leader-leases.ts'
import { createSweepLedger } from '../sweep/sweep-ledger.ts'
import { createUploadLedger } from '../uploads/upload-ledger.ts'
import { createWebhookLedger } from '../webhooks/webhook-ledger.ts'
import { createAccountLedger } from '../users/accounts.ts'
import { createSession, type LedgerOptions } from './session.ts'

/** All ports of the ledger. Each use case takes only those that it needs. */
export interface Ledger
  extends
    UploadLedger,
    ResumableLedger,
    FileLedger,
    HistoryLedger,
    LinkLedger,
    AccountLedger,
    SweepLedger,
    BacklogLedger,
    ClockLedger,
    LeaderLeases,
    ChangeLedger,
    GrantPeriodLedger,
    WebhookLedger,
    OverviewLedger,
    AuditLedger {}

/** The WHERE of an UPDATE decides, never an earlier read. The lock on the user's `quotas` row orders transactions. */
export function createLedger(database: Database, options: LedgerOptions): Ledger {
  const session = createSession(database, options)
  const steps = {
    ...createUploadLedger(session),
    ...createResumableLedger(session),
    ...createFileLedger(session),
    ...createHistoryLedger(session),
    ...createLinkLedger(session),
    ...createAccountLedger(session),
    ...createSweepLedger(session),
    ...createBacklogLedger(session),
    ...createLeaderLeases(session),
    ...createClockLedger(session),
    ...createChangeLedger(session),
    ...createGrantPeriodLedger(session),
    ...createWebhookLedger(session),
    ...createOverviewLedger(session),
    ...createAuditLedger(session),
  }
  const { runBatch, createShortcuts } = database
  if (runBatch === undefined) return steps
  return { ...steps, ...createShortcuts?.({ session, steps, runBatch }) }
}
