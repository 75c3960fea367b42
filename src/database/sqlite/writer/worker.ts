// The writer thread, started by `writer.ts`. Like `main.ts` it runs when loaded.
import { parentPort, workerData } from 'node:worker_threads'
import { databaseUnavailable } from '../../repeats.ts'
import { createLedger } from '../../ledger/ledger.ts'
import { MessageBuffer } from './message-buffer.ts'
import { createUserStore } from '../../users/user-store.ts'
import { openSqlite } from '../sqlite.ts'
import type { WriterAnswer, WriterCall, WriterMessage, WriterSettings } from './protocol.ts'
import { serializeError } from './serialized-error.ts'

/** Other processes usually hold the lock for milliseconds. If longer, other calls run between attempts. */
const BUSY_TIMEOUT_MS = 20

const port = parentPort
if (port === null) throw new TypeError('This is the code of a thread')
const { file, clock, baseCapacity } = workerData as WriterSettings
const database = await openSqlite({
  file,
  busyTimeoutMs: BUSY_TIMEOUT_MS,
  ...(clock && { clock: () => Number(Atomics.load(clock, 0)) }),
})

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>
const ports: Readonly<Record<WriterCall['port'], Methods>> = {
  ledger: { ...createLedger(database, { baseCapacity }) },
  users: { ...createUserStore(database) },
}

// One message for everything that one COMMIT has settled.
const outgoing = new MessageBuffer<WriterAnswer>(
  (answers) => port.postMessage(answers),
  (flush) => process.nextTick(flush),
)
const underWay = new Set<Promise<void>>()

async function answer({ id, port: name, method, args, until }: WriterCall): Promise<void> {
  try {
    // A caller that gave up may have acted since then. An abort still runs, so that the upload ends.
    if (Date.now() > until && method !== 'abort')
      throw databaseUnavailable(new Error('It was given up.'))
    const call = ports[name][method]
    if (call === undefined) throw new TypeError(`The port ${name} has no ${method}`)
    outgoing.add({ id, value: await call(...(args as never[])) })
  } catch (error) {
    outgoing.add({ id, error: serializeError(error) })
  }
}

async function close(): Promise<void> {
  await Promise.all(underWay)
  await database.close()
  outgoing.flush()
  port?.close()
}

port.on('message', (message: WriterMessage) => {
  if (message === 'close') {
    void close()
    return
  }
  for (const call of message) {
    const answering = answer(call).finally(() => underWay.delete(answering))
    underWay.add(answering)
  }
})
