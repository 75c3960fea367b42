import { describe, expect, it } from 'vitest'
import type { ChangeFiles } from '../../src/core/files/file-ledger.ts'
import type { LedgerWrite } from '../../src/core/uploads/ledger-space.ts'
import { AUDIT_OPERATIONS } from '../../src/database/audit/audit-ledger.ts'
import { GRANT_PERIOD_OPERATIONS } from '../../src/database/quota/grant-periods.ts'
import { CHANGE_OPERATIONS } from '../../src/database/changes/read.ts'
import { CLOCK_OPERATIONS } from '../../src/database/clock/clock-ledger.ts'
import { FILE_OPERATIONS } from '../../src/database/files/file-ledger.ts'
import { HISTORY_OPERATIONS } from '../../src/database/history/history-ledger.ts'
import { LEDGER_OPERATIONS } from '../../src/database/ledger.ts'
import { LINK_OPERATIONS } from '../../src/database/links/link-ledger.ts'
import { guardWrites, operationOf } from '../../src/database/operations.ts'
import { OPERATOR_OPERATIONS } from '../../src/database/operators/operator-ledger.ts'
import { OVERVIEW_OPERATIONS } from '../../src/database/overview/overview-ledger.ts'
import { RESUMABLE_OPERATIONS } from '../../src/database/resumable/resumable-ledger.ts'
import { BACKLOG_OPERATIONS } from '../../src/database/sweep/backlog.ts'
import { LEADER_LEASE_OPERATIONS } from '../../src/database/sweep/leader-leases.ts'
import { SWEEP_OPERATIONS } from '../../src/database/sweep/sweep-ledger.ts'
import { UPLOAD_OPERATIONS } from '../../src/database/uploads/upload-ledger.ts'
import { ACCOUNT_OPERATIONS } from '../../src/database/users/accounts.ts'
import { USER_SEARCH_OPERATIONS } from '../../src/database/users/search-users.ts'
import { WEBHOOK_OPERATIONS } from '../../src/database/webhooks/webhook-ledger.ts'

const LEDGER_TABLES = [
  AUDIT_OPERATIONS,
  GRANT_PERIOD_OPERATIONS,
  CHANGE_OPERATIONS,
  CLOCK_OPERATIONS,
  FILE_OPERATIONS,
  HISTORY_OPERATIONS,
  LINK_OPERATIONS,
  OPERATOR_OPERATIONS,
  OVERVIEW_OPERATIONS,
  RESUMABLE_OPERATIONS,
  BACKLOG_OPERATIONS,
  LEADER_LEASE_OPERATIONS,
  SWEEP_OPERATIONS,
  UPLOAD_OPERATIONS,
  ACCOUNT_OPERATIONS,
  USER_SEARCH_OPERATIONS,
  WEBHOOK_OPERATIONS,
]

describe('the operations', () => {
  it('are those of all tables of the ledger, of which no two have the same', () => {
    const names = LEDGER_TABLES.flatMap((table) => Object.keys(table))
    expect(names.toSorted()).toEqual(Object.keys(LEDGER_OPERATIONS).toSorted())
    expect(() => operationOf('ledger', 'createUser')).toThrow('has no operation')
  })

  it('tell deletions from other batches, and count what they change', () => {
    const effectOf = (...operations: readonly unknown[]): LedgerWrite =>
      FILE_OPERATIONS.changeFiles.effect({ operations } as unknown as ChangeFiles)
    const [deletion, update] = [{ op: 'delete' }, { op: 'update' }]
    expect(effectOf(deletion, deletion)).toEqual({ kind: 'ends', rows: 2 })
    expect(effectOf(deletion, update)).toEqual({ kind: 'grows', rows: 2 })
    const moving = [{ op: 'update', newName: 'b' }, { op: 'restore' }]
    expect(effectOf(...moving, update)).toEqual({ kind: 'grows', rows: 5 })
    const [deletions, renames] = [{ op: 'delete-prefix' }, { op: 'rename-prefix' }]
    expect(effectOf(deletion, deletions)).toEqual({ kind: 'ends', rows: 1_001 })
    expect(effectOf(deletions, renames)).toEqual({ kind: 'grows', rows: 2_000 })
  })

  it('ask for space before each write, and before no read', async () => {
    const asked: unknown[] = []
    const methods = {
      findFile: async (name: string) => `found ${name}`,
      deleteFile: async (name: string) => `deleted ${name}`,
    }
    const guarded = guardWrites('ledger', methods, {
      run: (write, call) => {
        asked.push(write)
        return call()
      },
      isReserveInUse: () => false,
      measureReserve: async () => 0,
    })
    expect(await guarded.findFile('a')).toBe('found a')
    expect(asked).toEqual([])
    expect(await guarded.deleteFile('a')).toBe('deleted a')
    expect(asked).toEqual([{ kind: 'ends', rows: 1 }])
  })
})
