import { describe, expect, it } from 'vitest'
import { guardWrites, WRITE_KINDS, writeOf } from '../../src/database/write-kinds.ts'
import { openTestCore } from '../support/service/test-core.ts'

describe('the kinds of writes', () => {
  it('are those of all methods of the ledger and of the user store, and of no others', async () => {
    await using core = await openTestCore()
    expect(Object.keys(WRITE_KINDS.ledger).toSorted()).toEqual(Object.keys(core.ledger).toSorted())
    expect(Object.keys(WRITE_KINDS.users).toSorted()).toEqual(Object.keys(core.users).toSorted())
    expect(() => writeOf('ledger', 'other')).toThrow('has no kind')
  })

  it('tell deletions from other batches, and count their operations', () => {
    const write = writeOf('ledger', 'changeFiles')
    const [deletion, update] = [{ op: 'delete' }, { op: 'update' }]
    expect(write?.({ operations: [deletion, deletion] })).toEqual({ kind: 'ends', rows: 2 })
    expect(write?.({ operations: [deletion, update] })).toEqual({ kind: 'grows', rows: 2 })
    const moving = [{ op: 'update', newName: 'b' }, { op: 'restore' }]
    expect(write?.({ operations: [...moving, update] })).toEqual({ kind: 'grows', rows: 5 })
  })

  it('are asked for before each write, and for no read', async () => {
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
