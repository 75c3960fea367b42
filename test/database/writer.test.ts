import { mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { UserId } from '../../src/core/user-id.ts'
import { createLedger } from '../../src/database/ledger.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createUserStore } from '../../src/database/user-store.ts'
import { Writer } from '../../src/database/writer.ts'
import {
  accountOf,
  BASE_CAPACITY,
  type LedgerHarness,
  openAccount,
  refusalOf,
} from '../core/ledger-fixture.ts'
import { accountsContract } from '../core/accounts-contract.ts'
import { ledgerContract } from '../core/ledger-contract.ts'
import { ledgerFilesContract } from '../core/ledger-files-contract.ts'
import { ledgerFilesRaceContract } from '../core/ledger-files-race-contract.ts'
import { ledgerListContract } from '../core/ledger-list-contract.ts'
import { ledgerModelContract } from '../core/ledger-model-contract.ts'
import { ledgerPreconditionContract } from '../core/ledger-precondition-contract.ts'
import { ledgerRaceContract } from '../core/ledger-race-contract.ts'
import { ledgerSweepContract } from '../core/ledger-sweep-contract.ts'
import { userStoreContract } from '../core/user-store-contract.ts'
import { createFolder, openWriterHarness } from './sqlite-harness.ts'

const NAME = 'SQLite that a thread writes'

ledgerContract(NAME, openWriterHarness)
ledgerFilesContract(NAME, openWriterHarness)
ledgerFilesRaceContract(NAME, openWriterHarness)
ledgerListContract(NAME, openWriterHarness, 20)
ledgerPreconditionContract(NAME, openWriterHarness)
ledgerSweepContract(NAME, openWriterHarness)
ledgerRaceContract(NAME, openWriterHarness)
ledgerModelContract(NAME, openWriterHarness, 100)
userStoreContract(NAME, openWriterHarness)
accountsContract(NAME, openWriterHarness)

describe('a writer', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let file: string
  let writer: Writer

  beforeEach(async () => {
    folder = await createFolder()
    file = join(folder.path, 'test.db')
    writer = new Writer({ file, baseCapacity: BASE_CAPACITY })
    return async () => {
      await writer.close()
      await folder.remove()
    }
  })

  /** The ports on a connection of this thread, with the writer's changes. */
  async function openPorts() {
    const database = await openSqlite({ file })
    onTestFinished(() => database.close())
    await migrate(database)
    const ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
    const users = createUserStore(database)
    return { reads: ledger, ledger: writer.ledger(ledger), users: writer.users(users) }
  }

  it('has made all that it was asked for when it has closed', async () => {
    const { reads, ledger, users } = await openPorts()
    const { userId } = await openAccount({ ledger, users } as LedgerHarness)
    const account = accountOf({ ledger, users, userId })
    const begun = Promise.all(
      Array.from({ length: 8 }, (_, index) => account.begin(`f${index}`, 1)),
    )
    await writer.close()
    expect(await reads.usage(userId)).toMatchObject({ reserved: 8 })
    expect(await begun).toHaveLength(8)
  })

  it('rejects what waits for a thread that dies, and starts another for what comes after', async () => {
    const { ledger, users } = await openPorts()
    const { userId } = await openAccount({ ledger, users } as LedgerHarness)
    await writer.close()
    await rename(file, `${file}.away`)
    await mkdir(file)
    const account = accountOf({ ledger, users, userId })
    const refused = [account.begin('a', 1), account.begin('b', 1)].map(refusalOf)
    for (const refusal of await Promise.all(refused)) {
      expect(refusal).toMatchObject({ code: 'unavailable', part: 'database' })
      expect(inspect(refusal, { depth: 5 })).toContain('unable to open database file')
    }
    await rmdir(file)
    await rename(`${file}.away`, file)
    await account.begin('c', 1)
    expect(await account.usage()).toMatchObject({ reserved: 1 })
  })

  it('refuses what is no plain data, and nothing that was asked for with it', async () => {
    const { ledger, users } = await openPorts()
    const { userId } = await openAccount({ ledger, users } as LedgerHarness)
    const account = accountOf({ ledger, users, userId })
    const good = account.begin('a', 1)
    // Both are of one turn of the event loop, so they are one message.
    const bad = users.createUser((() => 'bob') as unknown as UserId)
    await expect(bad).rejects.toThrow('could not be cloned')
    await good
    expect(await account.usage()).toMatchObject({ reserved: 1 })
  })
})
