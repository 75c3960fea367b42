import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import { createCallMeters } from '../../src/metrics/call-meters.ts'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { sampleOf } from '../support/http/metrics-text.ts'

const DOWN = new AppError('unavailable', 'Down.', { cause: new Error('ECONNREFUSED') })

function createMeter() {
  const instruments = createInstruments({ hasPool: false, hasPack: false })
  const { database } = createCallMeters(instruments)
  const count = async (name: string, operation: string) =>
    sampleOf(
      await instruments.registry.metrics(),
      `cloud_repository_database_${name}{operation="${operation}"}`,
    )
  return { meter: database, count }
}

describe('a metered call', () => {
  it.each<[string, unknown, number | undefined]>([
    ['a refusal', new AppError('capacity_exceeded', 'Full.'), undefined],
    ['an upload that is no longer pending', new AppError('unavailable', 'Lost.'), undefined],
    ['an outage', DOWN, 1],
    ['a defect', new TypeError('undefined'), 1],
  ])('times %s, hands it on, and counts it as an error or not', async (_what, error, errors) => {
    const { meter, count } = createMeter()
    const findFile = meter('findFile', () => Promise.reject(error))
    await expect(findFile()).rejects.toBe(error)
    expect(await count('call_seconds_count', 'find_file')).toBe(1)
    expect(await count('errors_total', 'find_file')).toBe(errors)
  })
})

describe('a metered call with a signal', () => {
  it.each<[string, AbortSignal, number | undefined]>([
    ['whose client went away', AbortSignal.abort(new Error('gone')), undefined],
    ['that took too long', AbortSignal.abort(new DOMException('', 'TimeoutError')), 1],
    ['that failed', new AbortController().signal, 1],
  ])('counts one %s as an error or not', async (_what, signal, errors) => {
    const { meter, count } = createMeter()
    const head = meter('head', (_object: { readonly signal: AbortSignal }) => Promise.reject(DOWN))
    await expect(Reflect.apply(head, undefined, [{ signal }])).rejects.toBe(DOWN)
    expect(await count('call_seconds_count', 'head')).toBe(1)
    expect(await count('errors_total', 'head')).toBe(errors)
  })
})
