import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { adoptStore, recognizeStore } from '../../../src/core/objects/recognize-store.ts'
import type { StoreRecord } from '../../../src/core/objects/store-record.ts'
import { createStoreRecord } from '../../../src/database/objects/store-record.ts'
import { faultyStore, outage } from '../../support/faults/faults.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { never } from '../../support/objects.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'

const UUID = /^[0-9a-f-]{36}$/

let core: TestCore
let record: StoreRecord
let store: ObjectStore
const warn = vi.fn<(err: unknown, message: string) => void>()

beforeEach(async () => {
  warn.mockReset()
  core = await openTestCore()
  record = createStoreRecord(core.database)
  store = createMemoryStore()
})
afterEach(() => core[Symbol.asyncDispose]())

function recognize(on: { readonly store?: ObjectStore; readonly record?: StoreRecord } = {}) {
  return recognizeStore({ record, store, ...on, advice: 'Mount it.', warn, signal: never() })
}

/** A new store, in the place of the known one, that must not be prepared. */
function otherStore(): ObjectStore {
  const prepare = () => Promise.reject(new Error('prepared'))
  return faultyStore(createMemoryStore(), { prepare })
}

describe('the first start', () => {
  it('gives database and store an identity, which later starts find', async () => {
    const identity = await recognize()
    expect(identity).toMatch(UUID)
    expect(await store.readIdentity(never())).toBe(identity)
    expect(await record.read()).toEqual({ identity, isConfirmed: true })
    expect(await recognize()).toBe(identity)
    expect(warn).not.toHaveBeenCalled()
  })

  it('the first start of a new database takes the identity of a store that another one knows', async () => {
    await store.createIdentity('other', never())
    expect(await recognize()).toBe('other')
    expect(await record.read()).toEqual({ identity: 'other', isConfirmed: true })
  })

  it('agrees with those of other instances at the same time', async () => {
    const identities = await Promise.all(Array.from({ length: 8 }, () => recognize()))
    expect(new Set(identities)).toEqual(new Set([await store.readIdentity(never())]))
  })

  it.each(['propose', 'createIdentity', 'confirm'] as const)(
    'locks nobody out when it ends at %s, before or after its effect',
    async (step) => {
      for (const isBefore of [true, false]) {
        const crash = async <T>(call: () => Promise<T>): Promise<T> => {
          if (!isBefore) await call()
          throw new AppError('internal_error', 'killed')
        }
        const broken =
          step === 'createIdentity'
            ? {
                store: faultyStore(store, {
                  createIdentity: (identity, signal) =>
                    crash(() => store.createIdentity(identity, signal)),
                }),
              }
            : { record: { ...record, [step]: (id: string) => crash(() => record[step](id)) } }
        await recognize(broken).catch(() => undefined)
        const identity = await recognize()
        expect(await record.read()).toEqual({ identity, isConfirmed: true })
        expect(await store.readIdentity(never())).toBe(identity)
      }
    },
  )

  it('proposes, gives and confirms in this order', async () => {
    const steps: string[] = []
    const noting = <A extends readonly unknown[], T>(step: string, call: (...args: A) => T) => {
      return (...args: A): T => {
        steps.push(step)
        return call(...args)
      }
    }
    await recognize({
      record: {
        ...record,
        propose: noting('propose', (identity: string) => record.propose(identity)),
        confirm: noting('confirm', (identity: string) => record.confirm(identity)),
      },
      store: faultyStore(store, {
        prepare: noting('prepare', (signal) => store.prepare(signal)),
        createIdentity: noting('create', (id, signal) => store.createIdentity(id, signal)),
      }),
    })
    expect(steps).toEqual(['prepare', 'propose', 'create', 'confirm'])
  })

  it('goes on with a store that takes no identity, such as a full one, and warns', async () => {
    const full = faultyStore(store, { createIdentity: () => Promise.reject(outage()) })
    expect(await recognize({ store: full })).toBeUndefined()
    expect(warn).toHaveBeenCalledWith(
      outage(),
      expect.stringContaining('could not be given an identity') as string,
    )
    expect(await recognize()).toMatch(UUID)
  })
})

describe('E23 a database that knows its store', () => {
  let known: string | undefined
  beforeEach(async () => {
    known = await recognize()
  })

  it('refuses a store without identity, and prepares nothing in it', async () => {
    await expect(recognize({ store: otherStore() })).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'The object store is not the one that the database knows: ' +
        `it has no identity instead of ${known}. Mount it.`,
    })
    expect(await record.read()).toEqual({ identity: known, isConfirmed: true })
  })

  it('refuses a store with another identity', async () => {
    const other = otherStore()
    await other.createIdentity('other', never())
    await expect(recognize({ store: other })).rejects.toThrow(
      `it has the identity other instead of ${known}.`,
    )
  })

  it('writes nothing to the database, whose lock another process may hold', async () => {
    const locked = () => Promise.reject(outage())
    const read = { ...record, propose: locked, confirm: locked, replace: locked }
    expect(await recognize({ record: read })).toBe(known)
  })

  it('rejects as the store does that does not answer', async () => {
    const silent = faultyStore(store, { readIdentity: () => Promise.reject(outage()) })
    await expect(recognize({ store: silent })).rejects.toEqual(outage())
  })

  it('adopts a store that has none by giving it its own', async () => {
    const copy = createMemoryStore()
    expect(await adoptStore({ record, store: copy, signal: never() })).toBe(known)
    expect(await recognize({ store: copy })).toBe(known)
    expect(await recognize()).toBe(known)
  })

  it('adopts a store that has another one by recording that', async () => {
    const moved = createMemoryStore()
    await moved.createIdentity('other', never())
    expect(await adoptStore({ record, store: moved, signal: never() })).toBe('other')
    expect(await recognize({ store: moved })).toBe('other')
    await expect(recognize()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
