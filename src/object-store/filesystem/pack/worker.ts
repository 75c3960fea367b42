// The thread that writes to the pack, started by `pack.ts`. Like `main.ts` it runs when loaded.
import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../../core/async/answer-calls.ts'
import { assertSameFile } from '../../../core/same-file.ts'
import { openPack } from './pack-file.ts'
import { type PackChange, type PackThread, PackWriter } from './pack-writer.ts'

/** Less than the caller waits. Nothing else runs on this thread. */
const BUSY_TIMEOUT_MS = 10_000

const { file, fileId } = workerData as PackThread
const connection = openPack({ file, isServed: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
if (fileId !== undefined) assertSameFile(file, fileId)
const writer = new PackWriter(connection)

answerCalls<PackChange>({
  answer: (change, until) => writer.change(change, until),
  close: async () => connection.close(),
})
