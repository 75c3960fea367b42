import { expect, it, onTestFinished, vi } from 'vitest'
import type { BatchOperation, BatchResult } from '../../../../packages/js/src/client.ts'
import { CloudRepositoryError, type ErrorCode } from '../../../../packages/js/src/errors.ts'
import type { FileEntry } from '../../../../web/shared/model.ts'
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

it('an operation for a folder counts as many as its files, of which it says what becomes', async () => {
  const service = serviceThat()
  const folder = (name: string, count: number): Step => {
    const files = Array.from({ length: count }, (_, at) => fileNamed(`${name}${at}`))
    const become = (file: FileEntry) => ({ ...file, name: `new/${file.name}` })
    const operation = { op: 'rename', prefix: name, new_prefix: `new/${name}` } as const
    return { files, operation, ofFolder: { become, byFile: () => [] } }
  }
  const { done } = await runBatches({
    files: service,
    steps: [folder('a/', 600), folder('b/', 400), folder('c/', 1)],
    skipsRefused: true,
    signal: new AbortController().signal,
    onBatch: () => undefined,
  })
  expect(service.sent.map(({ length }) => length)).toEqual([2, 1])
  expect(done).toHaveLength(1_001)
  expect(done.at(-1)).toMatchObject({ file: { name: 'c/0' }, after: { name: 'new/c/0' } })
})

it('a folder that has got too many files is done file by file, after what was before it', async () => {
  const service = serviceThat((operations) =>
    operations.some((each) => 'prefix' in each)
      ? new CloudRepositoryError({
          code: 'invalid_parameter',
          operation: 1,
          matched: 1_001,
        } as never)
      : undefined,
  )
  const files = ['a/1', 'a/2'].map(fileNamed)
  const byFile = () => deletions(2, (at) => files[at]?.name ?? '')
  const steps: readonly Step[] = [
    ...deletions(1),
    { files, operation: { op: 'delete', prefix: 'a/' }, ofFolder: { become: () => null, byFile } },
    ...deletions(1_000),
  ]
  const outcome = await run(service, steps)
  expect(outcome).toMatchObject({ done: 1_003, failure: undefined })
  expect(service.sent.map(({ length }) => length)).toEqual([999, 1_000, 3])
  const names = service.sent[1]?.map((each) => 'name' in each && each.name)
  expect(names?.slice(0, 3)).toEqual(['file 0', 'a/1', 'a/2'])
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
