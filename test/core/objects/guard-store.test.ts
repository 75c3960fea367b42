import { Readable } from 'node:stream'
import { setImmediate as iteration } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { guardStore } from '../../../src/core/objects/guard-store.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { Durable } from '../../../src/core/objects/append-store.ts'
import { faultyStore, outage } from '../../support/faults/faults.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { freshKey, never, put } from '../../support/objects.ts'
import { RecordedUpload } from '../../support/recorded-upload.ts'

const OTHER = {
  code: 'unavailable',
  message: 'The object store is not the one of this service.',
  isLogged: true,
}

let found: string | undefined
let reads: number
let memory: ObjectStore
const onChange = vi.fn<(isKnown: boolean) => void>()

beforeEach(() => {
  found = 'known'
  reads = 0
  memory = createMemoryStore()
  onChange.mockReset()
})

interface Guarded {
  readonly maxAgeMs?: number
  readonly faults?: Partial<ObjectStore>
}

function guard({ maxAgeMs = 0, faults = {} }: Guarded = {}): ObjectStore {
  const readIdentity = async () => {
    reads += 1
    return found
  }
  const store = faultyStore(memory, { readIdentity, ...faults })
  return guardStore(store, { identity: 'known', maxAgeMs, onChange })
}

const content = Buffer.from('content')

describe('E23 a guarded store', () => {
  it('is the store while it has the identity', async () => {
    const store = guard()
    const key = freshKey()
    expect(await put(store, { key, content })).toEqual({ size: 7 })
    expect(await store.head({ key, signal: never() })).toMatchObject({ size: 7 })
    await store.remove({ key, signal: never() })
    await store.check(never())
    expect(onChange).not.toHaveBeenCalled()
  })

  it('confirms no write to another store, also the first', async () => {
    const store = guard()
    found = undefined
    await expect(put(store, { key: freshKey(), content })).rejects.toMatchObject(OTHER)
  })

  it('confirms a write only after an answer that comes later', async () => {
    const { promise: answer, resolve } = Promise.withResolvers<string | undefined>()
    const isStored = Promise.withResolvers<void>()
    const store = guard({
      faults: {
        readIdentity: () => answer,
        put: async (object) => {
          const stored = await memory.put(object)
          isStored.resolve()
          return stored
        },
      },
    })
    const writing = put(store, { key: freshKey(), content })
    await isStored.promise
    resolve('other')
    await expect(writing).rejects.toMatchObject(OTHER)
  })

  it('confirms no write whose end came after the replacement, however early it began', async () => {
    const store = guard({
      faults: {
        put: async (object) => {
          found = 'other'
          return await memory.put(object)
        },
      },
    })
    await expect(put(store, { key: freshKey(), content })).rejects.toMatchObject(OTHER)
  })

  it('forgets an answer that comes after that to a later question', async () => {
    const late = Promise.withResolvers<string | undefined>()
    const answers = [late.promise, Promise.resolve('other')]
    const readIdentity = () => answers.shift() ?? Promise.resolve('other')
    const store = guard({ maxAgeMs: 60_000, faults: { readIdentity } })
    const first = store.check(never())
    await expect(store.check(never())).rejects.toMatchObject(OTHER)
    late.resolve('known')
    await expect(first).rejects.toMatchObject(OTHER)
    await expect(put(store, { key: freshKey(), content })).rejects.toMatchObject(OTHER)
  })

  it('reports nothing of an append to another store, also the first', async () => {
    const store = guard()
    found = undefined
    const onDurable = vi.fn<() => void>()
    const upload = new RecordedUpload({ store, partSize: 1000, length: 7 })
    await expect(upload.append(content, { onDurable })).rejects.toMatchObject(OTHER)
    expect(onDurable).not.toHaveBeenCalled()
  })

  it('reports all of an append to the known store, in order, before that fails', async () => {
    const append: ObjectStore['append'] = async ({ onDurable, storeState }) => {
      for (const offset of [1, 2, 3]) onDurable({ offset, replacedFrom: 0, pieces: [], storeState })
      throw outage()
    }
    const readIdentity = async () => {
      await iteration()
      return found
    }
    const store = guard({ faults: { append, readIdentity } })
    const offsets: number[] = []
    const onDurable = ({ offset }: Durable) => void offsets.push(offset)
    const upload = new RecordedUpload({ store, partSize: 1000, length: 7 })
    await expect(upload.append(content, { onDurable })).rejects.toEqual(outage())
    expect(offsets).toEqual([1, 2, 3])
  })

  it('refuses every further write before it begins, and takes the body', async () => {
    const touched = vi.fn<() => Promise<never>>(() => Promise.reject(outage()))
    const faults = { put: touched, append: touched, remove: touched, removeFenced: touched }
    const store = guard({ faults })
    found = 'other'
    await expect(store.check(never())).rejects.toMatchObject(OTHER)
    const key = freshKey()
    const body = Readable.from([content])
    const onUntouched = vi.fn<() => void>()
    await expect(store.put({ key, body, onUntouched, signal: never() })).rejects.toMatchObject(
      OTHER,
    )
    expect(body.destroyed).toBe(true)
    expect(onUntouched).toHaveBeenCalledOnce()
    const upload = new RecordedUpload({ store, partSize: 1000, length: 7 })
    await expect(upload.append(content)).rejects.toMatchObject(OTHER)
    const append = { key, storeState: '{}', recorded: undefined, signal: never() }
    await expect(store.removeFenced(append)).rejects.toMatchObject(OTHER)
    await expect(store.remove({ key, signal: never() })).rejects.toMatchObject(OTHER)
    expect(touched).not.toHaveBeenCalled()
  })

  it('tells a change once, and takes writes again when the known store is back', async () => {
    const store = guard()
    for (const identity of ['other', undefined, 'other']) {
      found = identity
      await Promise.allSettled([store.check(never()), store.check(never())])
      await expect(put(store, { key: freshKey(), content })).rejects.toMatchObject(OTHER)
    }
    found = 'known'
    expect(await put(store, { key: freshKey(), content })).toEqual({ size: 7 })
    expect(onChange.mock.calls).toEqual([[false], [true]])
  })

  it('asks at most once in the time that an answer may be old', async () => {
    const store = guard({ maxAgeMs: 60_000 })
    await Promise.all(Array.from({ length: 20 }, () => put(store, { key: freshKey(), content })))
    expect(reads).toBe(1)
  })

  it('reports no loss of an upload in a store that has just been replaced', async () => {
    const store = guard({ maxAgeMs: 60_000 })
    const upload = new RecordedUpload({ store, partSize: 1000, length: 14 })
    await upload.append(content)
    memory = createMemoryStore()
    const replaced = guardStore(faultyStore(memory, { readIdentity: async () => found }), {
      identity: 'known',
      maxAgeMs: 60_000,
      onChange,
    })
    const { key, storeState } = upload
    const rest = { key, storeState, partSize: 1000, offset: 7, pieces: [], signal: never() }
    expect(await replaced.isStored(rest)).toBe(false)
    found = undefined
    await expect(replaced.isStored(rest)).rejects.toMatchObject(OTHER)
    found = 'known'
    await replaced.check(never())
    const finish = { ...rest, size: 14, metadata: {} }
    expect(await replaced.finish(finish)).toBeUndefined()
    found = undefined
    await expect(replaced.finish(finish)).rejects.toMatchObject(OTHER)
  })

  it('refuses no write because of an answer that does not arrive, but reports no loss either', async () => {
    const store = guard({ faults: { readIdentity: () => Promise.reject(outage()) } })
    const key = freshKey()
    expect(await put(store, { key, content })).toEqual({ size: 7 })
    await expect(store.check(never())).rejects.toEqual(outage())
    const upload = {
      key,
      storeState: '{}',
      partSize: 1000,
      offset: 14,
      pieces: [],
      signal: never(),
    }
    await expect(store.isStored(upload)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The object store does not say which one it is.',
      dependency: 'object_store',
      cause: outage(),
    })
    expect(onChange).not.toHaveBeenCalled()
  })
})
