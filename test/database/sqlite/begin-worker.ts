import { callerNamed } from '../../support/caller.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { accountOf, BASE_CAPACITY, outcomeOf } from '../../core/ledger/fixture.ts'

// Begins ten tenths of the capacity of the user `shared` at once and posts the outcomes.
const database = await openSqlite({ file: String(workerData) })
const ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
const caller = await callerNamed(users, parseUserId('shared'))
const account = accountOf({ ledger, users, ...caller })
const begins = Array.from({ length: 10 }, (_, index) => account.begin(`f${index}`, 10))
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(await Promise.all(begins.map(outcomeOf)))
await database.close()
