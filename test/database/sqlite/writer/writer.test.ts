import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { beforeEach, describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest'
import { openEmbedded } from '../../../../src/compose/embedded.ts'
import type { UploadOutcome } from '../../../../src/core/uploads/upload-ledger.ts'
import { parseUserId, type UserId } from '../../../../src/core/users/user-id.ts'
import { createLedger, type Ledger } from '../../../../src/database/ledger.ts'
import { migrate } from '../../../../src/database/migrate.ts'
import { openSqlite } from '../../../../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../../../../src/database/users/user-store.ts'
import { Writer } from '../../../../src/database/sqlite/writer/writer.ts'
import {
  accountOf,
  BASE_CAPACITY,
  openAccount,
  outcomeOf,
  refusalOf,
} from '../../../core/ledger/fixture.ts'
import { accountsContract } from '../../../core/users/accounts-contract.ts'
import { ledgerContract } from '../../../core/ledger/ledger-contract.ts'
import { ledgerFilesContract } from '../../../core/ledger/files-contract.ts'
import { ledgerFilesRaceContract } from '../../../core/ledger/files-race-contract.ts'
import { ledgerIdentityContract } from '../../../core/ledger/identity-contract.ts'
import { ledgerModelContract } from '../../../core/ledger/model-contract.ts'
import { ledgerPreconditionContract } from '../../../core/ledger/precondition-contract.ts'
import { ledgerRaceContract } from '../../../core/ledger/race-contract.ts'
import { ledgerSweepContract } from '../../../core/ledger/sweep-contract.ts'
import { resumableLedgerContract } from '../../../core/ledger/resumable/contract.ts'
import { resumablesOf } from '../../../core/ledger/resumable/fixture.ts'
import { userStoreContract } from '../../../core/users/user-store-contract.ts'
import { createFolder, openWriterHarness } from '../harness.ts'
import { readUsage } from '../../../support/read-usage.ts'

const NAME = 'SQLite that a thread writes'

ledgerContract(NAME, openWriterHarness)
ledgerFilesContract(NAME, openWriterHarness)
ledgerFilesRaceContract(NAME, openWriterHarness)
ledgerIdentityContract(NAME, openWriterHarness)
ledgerPreconditionContract(NAME, openWriterHarness)
ledgerSweepContract(NAME, openWriterHarness)
resumableLedgerContract(NAME, openWriterHarness, 15)
ledgerRaceContract(NAME, openWriterHarness)
ledgerModelContract(NAME, openWriterHarness, 25)
userStoreContract(NAME, openWriterHarness)
accountsContract(NAME, openWriterHarness)

describe('a writer', () => {
  let folder: Awaited<ReturnType<typeof createFolder>>
  let file: string
  let writer: Writer
  /** Why threads have ended. */
  let deaths: unknown[]
  let posted: MockInstance<Worker['postMessage']>

  beforeEach(async () => {
    folder = await createFolder()
    file = join(folder.path, 'test.db')
    deaths = []
    writer = new Writer({ file, baseCapacity: BASE_CAPACITY }, (cause) => void deaths.push(cause))
    posted = vi.spyOn(Worker.prototype, 'postMessage')
    return async () => {
      posted.mockRestore()
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
    const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
    return { direct: ledger, ledger: writer.ledger(ledger), users: writer.users(users) }
  }

  /** Starts the thread, and returns it. */
  async function startThread({ ledger }: { readonly ledger: Ledger }): Promise<Worker> {
    writer.start()
    await ledger.check()
    const thread = posted.mock.contexts.at(-1)
    if (thread instanceof Worker) return thread
    throw new TypeError('The thread was sent nothing.')
  }

  it('has made all that it was asked for when it has closed', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    writer.start()
    const begun = Promise.all(
      Array.from({ length: 8 }, (_, index) => account.begin(`f${index}`, 1)),
    )
    await writer.close()
    expect(await readUsage(ports.direct, account.userId)).toMatchObject({ reserved: 8 })
    expect(await begun).toHaveLength(8)
    expect(deaths).toEqual([])
  })

  it('rejects what waits for a thread that dies and all writes after it, and says once why', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    const thread = await startThread(ports)
    await account.begin('a', 1)
    const waits = [account.begin('b', 1), account.begin('c', 1)].map(refusalOf)
    await thread.terminate()
    const later = [account.begin('d', 1), ports.users.createUser(parseUserId('bob'))].map(refusalOf)
    for (const refusal of await Promise.all([...waits, ...later])) {
      expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'database' })
    }
    expect(deaths).toMatchObject([{ message: 'The thread has ended.' }])
    expect(await account.usage()).toMatchObject({ reserved: 1 })
    await expect(startThread(ports)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('has every upload either committed or aborted, whenever its thread dies', async () => {
    const { direct, ...ports } = await openPorts()
    const account = await openAccount(ports)
    const { userId } = account
    const thread = await startThread(ports)
    const settle = async (name: string): Promise<UploadOutcome | undefined> => {
      const version = await account.begin(name, 1)
      const outcome = await outcomeOf(account.commit(version, 1))
      // As the next process does, which cannot know.
      return outcome === 'ok' ? 'committed' : await direct.abort({ userId, version })
    }
    // More than come to their end together.
    const uploads = Array.from({ length: 60 }, (_, at) => settle(`f${at}`))
    await Promise.race(uploads)
    await thread.terminate()
    const settled = await Promise.allSettled(uploads)
    const committed = settled.filter(
      (each) => each.status === 'fulfilled' && each.value === 'committed',
    )
    const lost = settled.filter(({ status }) => status === 'rejected').length
    expect(committed.length).toBeLessThan(uploads.length)
    const usage = await readUsage(direct, account.userId)
    expect(usage).toMatchObject({ used: committed.length, fileCount: committed.length })
    // Of those whose begin is in doubt the lease will end.
    expect(usage?.reserved).toBeLessThanOrEqual(lost)
  })

  it('rejects all writes when its thread cannot open the database, and says once why', async () => {
    const account = await openAccount(await openPorts())
    await rename(file, `${file}.away`)
    await mkdir(file)
    const begun = [account.begin('a', 1), account.begin('b', 1)].map(refusalOf)
    for (const refusal of await Promise.all(begun)) {
      expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'database' })
    }
    expect(deaths).toHaveLength(1)
    expect(inspect(deaths, { depth: 5 })).toContain('unable to open database file')
    expect(await account.usage()).toMatchObject({ reserved: 0 })
  })

  it('opens no other database that has taken the place of the one that the process reads', async () => {
    const account = await openAccount(await openPorts())
    const embedded = openEmbedded(
      { kind: 'sqlite', file },
      {
        ledgerOptions: { baseCapacity: BASE_CAPACITY },
        onDeath: (cause) => void deaths.push(cause),
      },
    )
    onTestFinished(() => embedded?.writer.close())
    for (const end of ['', '-wal', '-shm']) await rename(file + end, `${file}.away${end}`)
    const other = await openSqlite({ file })
    onTestFinished(() => other.close())
    embedded?.writer.start()
    await expect.poll(() => deaths).toHaveLength(1)
    expect(inspect(deaths)).toContain('is not the file that this process reads')
    expect(await account.usage()).toMatchObject({ reserved: 0 })
  })

  it('rejects all writes when no thread can be made, and says once why', async () => {
    const ports = await openPorts()
    const { userId, userCreatedAt } = await openAccount(ports)
    writer = new Writer(
      { file, baseCapacity: BASE_CAPACITY, clock: (() => 0) as unknown as BigInt64Array },
      (cause) => void deaths.push(cause),
    )
    const ledger = writer.ledger(ports.direct)
    for (const name of ['a', 'b']) {
      const begun = accountOf({ ...ports, ledger, userId, userCreatedAt }).begin(name, 1)
      expect(await refusalOf(begun)).toMatchObject({ code: 'unavailable', dependency: 'database' })
    }
    expect(deaths).toHaveLength(1)
  })

  it('begins nothing that was given up, but ends uploads that were', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    await startThread(ports)
    const version = await account.begin('a', 1)
    // As if all that follows had waited so long in the thread.
    const steady = process.hrtime.bigint()
    const spy = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(steady - 31_000_000_000n)
    onTestFinished(() => spy.mockRestore())
    expect(await refusalOf(account.begin('b', 1))).toMatchObject({ code: 'unavailable' })
    expect(await account.abort(version)).toBe('aborted')
    expect(await account.usage()).toMatchObject({ reserved: 0 })
  })

  it('takes no jump of the clock for a wait', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    await startThread(ports)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 10 * 365 * 86_400_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect(await outcomeOf(account.begin('a', 1))).toBe('ok')
  })

  it('starts its thread with an upload, which waits for it', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    await ports.ledger.check()
    expect(posted).not.toHaveBeenCalled()
    await account.begin('a', 1)
    expect(posted).toHaveBeenCalledOnce()
  })

  it('starts its thread with a resumable upload', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    await resumablesOf(ports.ledger, account).create('a', 1)
    expect(posted).toHaveBeenCalledOnce()
  })

  it('starts its thread with an append to an upload that an earlier process created', async () => {
    const ports = await openPorts()
    const account = await openAccount(ports)
    const upload = await resumablesOf(ports.direct, account).create('a', 1)
    expect(posted).not.toHaveBeenCalled()
    await resumablesOf(ports.ledger, account).hold(upload)
    expect(posted).toHaveBeenCalledOnce()
  })

  it('starts none once it is closed', async () => {
    const ports = await openPorts()
    await writer.close()
    await expect(startThread(ports)).rejects.toThrow('The thread was sent nothing.')
  })

  it('gives up on a thread that no longer answers, and says so when it is asked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const ports = await openPorts()
    const account = await openAccount(ports)
    await startThread(ports)
    // As if it were stuck in a write to the disk.
    posted.mockImplementation(() => {})
    const refusals = [account.begin('a', 1), ports.ledger.check()].map(refusalOf)
    vi.advanceTimersByTime(30_000)
    for (const refusal of await Promise.all(refusals)) {
      expect(refusal).toMatchObject({ code: 'unavailable', dependency: 'database' })
    }
    posted.mockRestore()
  })

  it('refuses what is no plain data, and nothing that was asked for with it', async () => {
    const { ledger, users } = await openPorts()
    const account = await openAccount({ ledger, users })
    writer.start()
    const good = account.begin('a', 1)
    // Both are of one iteration of the event loop, so they are one message.
    const bad = users.createUser((() => 'bob') as unknown as UserId)
    await expect(bad).rejects.toThrow('could not be cloned')
    await good
    expect(await account.usage()).toMatchObject({ reserved: 1 })
  })
})
