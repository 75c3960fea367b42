// The writer thread, started by `writer.ts`. Like `main.ts` it runs when loaded.
import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../../core/async/answer-calls.ts'
import { steadyTime } from '../../../core/clock/steady-time.ts'
import { assertSameFile } from '../../../core/same-file.ts'
import { databaseUnavailable } from '../../repeats.ts'
import { createLedger } from '../../ledger.ts'
import { createUserStore } from '../../users/user-store.ts'
import { openSqlite } from '../sqlite.ts'
import { type OperationCall, operationOf, type PortName } from '../../operations.ts'
import type { WriterSettings } from './writer.ts'

/** Other processes usually hold the lock for milliseconds. If longer, other calls run between attempts. */
const BUSY_TIMEOUT_MS = 20

const { file, fileId, clock, ...options } = workerData as WriterSettings
const database = await openSqlite({
  file,
  busyTimeoutMs: BUSY_TIMEOUT_MS,
  undoInMemory: true,
  clock: clock && (() => Number(Atomics.load(clock, 0))),
})
if (fileId !== undefined) assertSameFile(file, fileId)

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>
const ports: Readonly<Record<PortName, Methods>> = {
  ledger: { ...createLedger(database, options) },
  users: { ...createUserStore(database, options) },
}

answerCalls<OperationCall>({
  answer: async ({ port, method, args }, until) => {
    // A caller that gave up may have acted since then.
    if (steadyTime() > until && operationOf(port, method).runsLate !== true)
      throw databaseUnavailable(new Error('It was given up.'))
    const call = ports[port][method]
    if (call === undefined) throw new TypeError(`The port ${port} has no ${method}`)
    return await call(...(args as never[]))
  },
  close: () => database.close(),
})
