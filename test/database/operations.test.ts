import { describe, expect, it } from 'vitest'
import type { ChangeFiles } from '../../src/core/files/file-ledger.ts'
import type { LedgerWrite } from '../../src/core/uploads/ledger-space.ts'
import { FILE_OPERATIONS } from '../../src/database/files/file-ledger.ts'
import { guardWrites, operationOf } from '../../src/database/operations.ts'
import { openTestCore } from '../support/service/test-core.ts'

describe('the operations', () => {
  it('are the methods of the ledger and of the user store', async () => {
    await using core = await openTestCore()
    for (const method of Object.keys(core.ledger)) operationOf('ledger', method)
    for (const method of Object.keys(core.users)) operationOf('users', method)
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
