import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { layerPorts } from '../../src/compose/layers.ts'
import { createCallMeters } from '../../src/metrics/call-meters.ts'
import { createInstruments } from '../../src/metrics/instruments.ts'
import { freshKey, never, put } from '../support/objects.ts'
import { RecordedUpload } from '../support/recorded-upload.ts'
import { openTestCore, type TestCore } from '../support/service/test-core.ts'

let core: TestCore

beforeEach(async () => {
  core = await openTestCore()
})
afterEach(() => core[Symbol.asyncDispose]())

function openPorts() {
  const instruments = createInstruments({ hasPool: false, hasPack: false })
  const meter = createCallMeters(instruments)
  const { database, objects } = core
  const layers = { writer: undefined, trace: undefined, meter }
  const ports = layerPorts({ database, objects, ledgerOptions: { baseCapacity: 0 }, ...layers })
  return { ports, registry: instruments.registry }
}

describe('the layers around ports', () => {
  it('time each call of the database, and of the object store those that requests make', async () => {
    const { ports, registry } = openPorts()
    const key = freshKey()
    expect(await put(ports.objects, { key, content: Buffer.from('content') })).toEqual({ size: 7 })
    await ports.objects.check(never())
    const listing = ports.objects.list({ prefix: 'users/', signal: never() })
    expect(await Array.fromAsync(listing)).toEqual([{ key, size: 7 }])
    expect(await ports.ledger.measureJournal(1)).toMatchObject({ reservations: 0 })
    const exposed = await registry.metrics()
    const timed = exposed.matchAll(/^(.*)_call_seconds_count\{operation="(.*)"\} 1$/gm)
    expect(Array.from(timed, ([, of, operation]) => `${of} ${operation}`)).toEqual([
      'cloud_repository_database measure_journal',
      'cloud_repository_object_store put',
    ])
  })

  it('time appends and what finishes them, and leave what is no call', async () => {
    const { ports, registry } = openPorts()
    const { objects } = ports
    const upload = new RecordedUpload({ store: objects, partSize: 1000, length: 7 })
    await upload.append(Buffer.from('content'))
    expect(await upload.finish()).toEqual({ size: 7 })
    const { hasTails } = core.objects
    expect(objects).toMatchObject({ hasTails })
    expect(objects.partSizeFor(7)).toBe(core.objects.partSizeFor(7))
    const exposed = await registry.metrics()
    const timed = exposed.matchAll(/^cloud_repository_(.*)_call_seconds_count\{.*"(.*)"\} 1$/gm)
    expect(Array.from(timed, ([, of, operation]) => `${of} ${operation}`)).toEqual([
      'object_store append',
      'object_store finish',
    ])
  })

  it('leave a port as it is where there are none', () => {
    expect(openPorts().ports.unmetered.objects).toBe(core.objects)
  })
})
