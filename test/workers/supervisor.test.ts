import cluster, { type Worker } from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import type { FromWorker } from '../../src/workers/messages.ts'
import { replacementDelayMs, superviseWorkers } from '../../src/workers/supervisor.ts'

it('replaces a worker at once if it has served, and ever later if workers end early', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 100].map(replacementDelayMs)
  expect(delays).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

it('tries again when the system has no memory for a replacement', async () => {
  const forks = new EventEmitter()
  const fork = vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const worker = startedWorker(fork.mock.calls.length)
    setImmediate(() => forks.emit('fork', worker))
    return worker
  })
  const stop = Promise.withResolvers<NodeJS.Signals>()
  const logger = pino({ level: 'silent' })
  const options = {
    workers: 1,
    addresses: [],
    logger,
    stopped: stop.promise,
    printError: () => undefined,
  }
  const ended = superviseWorkers(options)
  const [first] = (await once(forks, 'fork')) as [Worker]
  for (const type of ['opened', 'serving'] as const) tellPrimary(first, { type })
  fork.mockImplementationOnce(() => {
    throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' })
  })
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  cluster.emit('exit', first, 1, null)
  vi.advanceTimersByTime(3_000)
  vi.useRealTimers()
  const [replacement] = (await once(forks, 'fork')) as [Worker]
  expect(fork).toHaveBeenCalledTimes(3)
  stop.resolve('SIGTERM')
  await vi.waitFor(() => expect(kill).toHaveBeenCalledWith(replacement.id, 'SIGTERM'))
  cluster.emit('exit', replacement, 0, null)
  expect(await ended).toBe(0)
})

const kill = vi.fn<(id: number, signal: string) => void>()

function startedWorker(id: number): Worker {
  const process = { pid: id, kill: (signal: string) => kill(id, signal) }
  return Object.assign(new EventEmitter(), { id, process, isConnected: () => false }) as never
}

function tellPrimary(worker: Worker, message: FromWorker): void {
  cluster.emit('message', worker, message, undefined)
}
