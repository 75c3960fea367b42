// The code of the thread that `writer.ts` starts.
import { parentPort, workerData } from 'node:worker_threads'
import { createLedger } from './ledger.ts'
import { openSqlite } from './sqlite.ts'
import { createUserStore } from './user-store.ts'
import {
  Outbox,
  sent,
  type WriterAnswer,
  type WriterCall,
  type WriterSettings,
} from './writer-messages.ts'

type Methods = Readonly<Record<string, (...words: readonly unknown[]) => Promise<unknown>>>

const port = parentPort
if (port === null) throw new TypeError('This is the code of a thread')
const { file, clock, baseCapacity } = workerData as WriterSettings
const database = await openSqlite({
  file,
  ...(clock && { clock: () => Number(Atomics.load(clock, 0)) }),
})
const ports = {
  ledger: createLedger(database, { baseCapacity }),
  users: createUserStore(database),
} as unknown as Readonly<Record<WriterCall['port'], Methods>>

/** All that one COMMIT has settled is one message. */
const outbox = new Outbox<WriterAnswer>({
  send: (answers) => port.postMessage(answers),
  refuse: ({ id }, error) => port.postMessage([{ id, error: sent(new Error(String(error))) }]),
  schedule: (flush) => process.nextTick(flush),
})
const underWay = new Set<Promise<void>>()

async function answer({ id, port: name, method, words }: WriterCall): Promise<void> {
  try {
    outbox.add({ id, value: await ports[name][method]?.(...words) })
  } catch (error) {
    outbox.add({ id, error: sent(error) })
  }
}

port.on('message', (calls: readonly WriterCall[]) => {
  for (const call of calls) {
    const answering = answer(call).finally(() => underWay.delete(answering))
    underWay.add(answering)
  }
  // No calls at all are the end.
  if (calls.length === 0) void close()
})

async function close(): Promise<void> {
  await Promise.all(underWay)
  await database.close()
  outbox.flush()
  port?.close()
}
