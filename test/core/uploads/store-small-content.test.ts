import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { digestOf } from '../../../src/core/objects/content-digest.ts'
import type { ObjectStore, PutObject } from '../../../src/core/objects/object-store.ts'
import type { IncomingFile, StoreContentOptions } from '../../../src/core/uploads/store-content.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { faultyStore, hangingPut } from '../../support/faults/faults.ts'
import {
  brokenContent,
  contentOf,
  incomingFile,
  stalledContent,
  UNKNOWN_SIZE,
} from '../../support/http/incoming-file.ts'
import { storeFile } from './store-file.ts'

describe('a file of at most 32 KiB', () => {
  const small = (
    content: string | Uint8Array,
    options: Partial<IncomingFile> = {},
  ): IncomingFile => {
    const { byteLength } = Buffer.from(content)
    return incomingFile(content, {
      size: { min: byteLength, announced: byteLength, max: byteLength },
      ...options,
    })
  }

  function* slicesOf(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
  }

  async function bodiesOf(incoming: IncomingFile): Promise<readonly PutObject['body'][]> {
    const bodies: PutObject['body'][] = []
    const store = createMemoryStore()
    const put = (object: PutObject) => (bodies.push(object.body), store.put(object))
    await storeFile(incoming, { objects: faultyStore(store, { put }) })
    return bodies
  }

  it('is put as a whole, counted and hashed', async () => {
    const bytes = randomBytes(32 * 1024)
    expect(await bodiesOf(small(bytes))).toEqual([bytes])
    expect(await storeFile(small(bytes))).toEqual({
      size: bytes.byteLength,
      ...digestOf(bytes),
    })
  })

  it('may have no bytes', async () => {
    expect(await storeFile(small(''))).toMatchObject({ size: 0 })
  })

  it('is streamed when it may be a byte larger', async () => {
    const size = { min: 0, announced: 3, max: 32 * 1024 + 1 }
    expect(await bodiesOf(small('abc', { size }))).toEqual([expect.any(Readable)])
  })

  it('is put as a whole, and reserved at once, when its size was not announced', async () => {
    const bytes = randomBytes(32 * 1024)
    const unannounced = (): IncomingFile =>
      small('', { content: contentOf(slicesOf(bytes)), size: UNKNOWN_SIZE })
    expect(await bodiesOf(unannounced())).toEqual([bytes])
    const reserved: number[] = []
    const onBytes = (total: number): undefined => void reserved.push(total)
    await storeFile(unannounced(), { onBytes })
    expect(reserved).toEqual([32 * 1024])
  })

  it('is streamed from its start when a byte too many arrives', async () => {
    const bytes = randomBytes(32 * 1024 + 1)
    const file = (): IncomingFile =>
      small('', { content: contentOf(slicesOf(bytes)), size: UNKNOWN_SIZE })
    expect(await bodiesOf(file())).toEqual([expect.any(Readable)])
    expect(await storeFile(file())).toEqual({
      size: bytes.byteLength,
      ...digestOf(bytes),
    })
  })

  it('is put when its bytes are reported and the request has ended well, and not before', async () => {
    const order: string[] = []
    const store = createMemoryStore()
    const objects = faultyStore(store, {
      put: (object) => (order.push('put'), store.put(object)),
    })
    const end = async (): Promise<void> => void order.push('end')
    const onBytes = async (total: number): Promise<void> => void order.push(`${total} bytes`)
    await storeFile(small('abc', { end }), { objects, onBytes })
    expect(order).toEqual(['3 bytes', 'end', 'put'])
  })

  const refusal = new AppError('capacity_exceeded', 'Full.')
  it.each<[string, Partial<IncomingFile>, Partial<StoreContentOptions>]>([
    ['a content that breaks off', { content: brokenContent('ab', refusal) }, {}],
    ['a request that ends badly', { end: () => Promise.reject(refusal) }, {}],
    ['a refused growth', {}, { onBytes: () => Promise.reject(refusal) }],
    [
      'more content than the request has room for, which ends badly',
      { content: contentOf([Buffer.from('abcdef')]), end: () => Promise.reject(refusal) },
      {},
    ],
  ])(
    'never reaches the store after %s, and the store is untouched',
    async (_case, file, options) => {
      let untouched = 0
      const put = (): never => {
        throw new Error('the store was called')
      }
      const storing = storeFile(small('abc', file), {
        objects: faultyStore(createMemoryStore(), { put }),
        onUntouched: () => (untouched += 1),
        ...options,
      })
      await expect(storing).rejects.toBe(refusal)
      expect(untouched).toBe(1)
    },
  )

  it('waits for a late answer about its last bytes, although its content has ended', async () => {
    const content = new Readable({ read: () => undefined })
    content.push('abc')
    content.push(null)
    const put = (): never => {
      throw new Error('the store was called')
    }
    const storing = storeFile(small('abc', { content }), {
      objects: faultyStore(createMemoryStore(), { put }),
      onBytes: () => sleep(20).then(() => Promise.reject(refusal)),
    })
    await expect(storing).rejects.toBe(refusal)
  })

  it('is refused at the first byte that does not fit, although the rest does not arrive', async () => {
    const { content } = stalledContent('a', 'b')
    const onBytes = (): Promise<void> => Promise.reject(refusal)
    await expect(storeFile(small('ab', { content }), { onBytes })).rejects.toBe(refusal)
    expect(content.destroyed).toBe(true)
  })

  it('over the limit is refused', async () => {
    const storing = storeFile(small('abcd'), { maxBytes: 3 })
    await expect(storing).rejects.toHaveProperty('code', 'file_too_large')
  })

  it.each(['a stalled content', 'a hanging store', 'a request without an end'])(
    'rejects with the reason of the signal, during %s',
    async (during) => {
      const { content, stalled } = stalledContent('abc', '')
      const hanging = Promise.withResolvers<void>()
      const put: ObjectStore['put'] = (object) => (hanging.resolve(), hangingPut(object))
      const end = () => (hanging.resolve(), new Promise<void>(() => undefined))
      const abort = new AbortController()
      const reason = new AppError('request_timeout', 'Too slow.')
      const incoming = {
        'a stalled content': small('', { content }),
        'a hanging store': small('abc'),
      }[during]
      const storing = storeFile(incoming ?? small('abc', { end }), {
        objects: faultyStore(createMemoryStore(), { put }),
        signal: abort.signal,
      })
      void Promise.race([stalled, hanging.promise]).then(() => abort.abort(reason))
      await expect(storing).rejects.toBe(reason)
      expect(content.destroyed).toBe(during === 'a stalled content')
    },
  )
})
