import { expect, it, onTestFinished, vi } from 'vitest'
import type { BatchOperation, BatchResult } from '../../../../packages/js/src/client.ts'
import { CloudRepositoryError, type ErrorCode } from '../../../../packages/js/src/errors.ts'
import { runBatches, type Step } from '../../../../web/user/selection/batches.ts'
import { fileNamed } from './file.ts'

type Ops = readonly BatchOperation[]

function problem(code: ErrorCode, operation?: number): CloudRepositoryError {
  return new CloudRepositoryError({ code, detail: code, operation } as never)
}

/** A service that keeps the batches that it is sent, and fails as `fail` says. */
function serviceThat(fail: (operations: Ops, call: number) => Error | undefined = () => undefined) {
  const sent: Ops[] = []
  function batch(operations: Ops): Promise<BatchResult> {
    sent.push(operations)
    const error = fail(operations, sent.length)
    if (error !== undefined) return Promise.reject(error)
    const results = operations.map(() => ({ file: null }))
    return Promise.resolve({ results } as unknown as BatchResult)
  }
  return { sent, batch }
}

function deletions(count: number, nameOf = (at: number) => `file ${at}`): readonly Step[] {
  return Array.from({ length: count }, (_, at) => {
    const file = fileNamed(nameOf(at))
    return { files: [file], operation: { op: 'delete', name: file.name } }
  })
}

async function run(service: ReturnType<typeof serviceThat>, steps: readonly Step[], skips = true) {
  const sizes: number[] = []
  const outcome = await runBatches({
    files: service,
    steps,
    skipsRefused: skips,
    signal: new AbortController().signal,
    onBatch: (done) => sizes.push(done.length),
  })
  const { done, refused, failure } = outcome
  return { sizes, done: done.length, refused: refused.map(({ file }) => file.name), failure }
}

it('a batch has at most 1,000 operations and 1 MiB', async () => {
  const service = serviceThat()
  expect(await run(service, deletions(2_001))).toMatchObject({ sizes: [1_000, 1_000, 1] })
  const long = serviceThat()
  await run(
    long,
    deletions(1_000, (at) => `${at}${'"'.repeat(900)}`),
  )
  expect(long.sent.map((operations) => operations.length)).not.toEqual([1_000])
  for (const operations of long.sent) {
    expect(Buffer.byteLength(JSON.stringify({ operations }))).toBeLessThan(2 ** 20)
  }
})

it('files of which the service refuses the operation are left out, and the others are done', async () => {
  const refusedNames = new Set(['file 1', 'file 4'])
  const service = serviceThat((operations) => {
    const at = operations.findIndex((each) => 'name' in each && refusedNames.has(each.name))
    return at === -1 ? undefined : problem('precondition_failed', at)
  })
  const outcome = await run(service, deletions(6))
  expect(outcome).toMatchObject({ done: 4, refused: ['file 1', 'file 4'], failure: undefined })
})

it('a service that refuses many is not asked for each of them', async () => {
  const service = serviceThat(() => problem('not_found', 0))
  const outcome = await run(service, deletions(100))
  expect(outcome.done).toBe(0)
  expect(outcome.failure).toMatchObject({ code: 'not_found' })
  expect(service.sent.length).toBeLessThan(30)
})

it('a refusal ends it where none is left out, and what was done before stays', async () => {
  const service = serviceThat((_, call) => (call === 2 ? problem('file_exists', 3) : undefined))
  const outcome = await run(service, deletions(2_500), false)
  expect(outcome).toMatchObject({ done: 1_000, refused: [], failure: { code: 'file_exists' } })
  expect(service.sent).toHaveLength(2)
})

it('what is cancelled ends before the next batch, with the reason as the failure', async () => {
  const cancelled = new AbortController()
  const service = serviceThat()
  const reason = new Error('Cancelled.')
  const { done, failure } = await runBatches({
    files: service,
    steps: deletions(2_500),
    skipsRefused: true,
    signal: cancelled.signal,
    onBatch: () => cancelled.abort(reason),
  })
  expect([done.length, failure, service.sent.length]).toEqual([1_000, reason, 1])
})

it('a refusal that is not of one file ends it', async () => {
  const service = serviceThat(() => problem('capacity_exceeded', 0))
  expect(await run(service, deletions(3))).toMatchObject({
    done: 0,
    failure: { code: 'capacity_exceeded' },
  })
  expect(service.sent).toHaveLength(1)
})

it('after a lost response, only what does nothing a second time is sent again, and not at once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lost = () => serviceThat((_, call) => (call < 3 ? problem('connection_lost') : undefined))
  const repeated = lost()
  const outcome = run(repeated, deletions(2))
  await vi.advanceTimersByTimeAsync(100)
  expect(repeated.sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await outcome).toMatchObject({ done: 2, failure: undefined })
  const file = fileNamed('a')
  const rename = { files: [file], operation: { op: 'rename', name: 'a', new_name: 'b' } } as const
  const service = lost()
  expect(await run(service, [rename])).toMatchObject({ done: 0 })
  expect(service.sent).toHaveLength(1)
})
