import { Registry } from '@prometheus-io/client'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import { objectKey } from '../../src/core/objects/object-key.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { createVersion } from '../../src/core/objects/version.ts'
import { createCallMeter, meterObjectStore, meterPort } from '../../src/metrics/port-latency.ts'
import { createMemoryStore } from '../../src/object-store/memory.ts'
import { faultyStore } from '../support/faults.ts'
import { sampleOf } from '../support/metrics-text.ts'

const DOWN = new AppError('unavailable', 'Down.', { cause: new Error('ECONNREFUSED') })

function createMeter() {
  const registry = new Registry()
  const meter = createCallMeter({ registry, of: 'database', help: 'database' })
  const count = async (name: string, operation: string) =>
    sampleOf(
      await registry.metrics(),
      `cloud_repository_database_${name}{operation="${operation}"}`,
    )
  return { meter, count }
}

describe('a metered port', () => {
  it.each<[string, unknown, number | undefined]>([
    ['a refusal', new AppError('capacity_exceeded', 'Full.'), undefined],
    ['an upload that is no longer pending', new AppError('unavailable', 'Lost.'), undefined],
    ['an outage', DOWN, 1],
    ['a defect', new TypeError('undefined'), 1],
  ])('times %s, hands it on, and counts it as an error or not', async (_what, error, errors) => {
    const { meter, count } = createMeter()
    const port = meterPort({ findFile: () => Promise.reject(error) }, meter)
    await expect(port.findFile()).rejects.toBe(error)
    expect(await count('call_seconds_count', 'find_file')).toBe(1)
    expect(await count('errors_total', 'find_file')).toBe(errors)
  })

  it('hands on every word and the answer', async () => {
    const port = { add: async (a: number, b: number) => a + b }
    expect(await meterPort(port, createMeter().meter).add(1, 2)).toBe(3)
  })
})

describe('a metered object store', () => {
  const key = objectKey(parseUserId('alice'), createVersion())

  it.each<[string, AbortSignal, number | undefined]>([
    ['whose client went away', AbortSignal.abort(new Error('gone')), undefined],
    ['that took too long', AbortSignal.abort(new DOMException('', 'TimeoutError')), 1],
    ['that failed', new AbortController().signal, 1],
  ])('counts a call %s as its error or not', async (_what, signal, errors) => {
    const { meter, count } = createMeter()
    const store = faultyStore(createMemoryStore(), { head: () => Promise.reject(DOWN) })
    await expect(meterObjectStore(store, meter).head({ key, signal })).rejects.toBe(DOWN)
    expect(await count('call_seconds_count', 'head')).toBe(1)
    expect(await count('errors_total', 'head')).toBe(errors)
  })
})
