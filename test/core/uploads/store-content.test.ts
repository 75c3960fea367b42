import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import {
  discardBody,
  type ObjectStore,
  type PutObject,
} from '../../../src/core/objects/object-store.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import {
  failingPut,
  faultyStore,
  hangingPut,
  outage,
  truncatingPut,
} from '../../support/faults/faults.ts'
import {
  brokenContent,
  contentOf,
  incomingFile,
  stalledContent,
  UNKNOWN_SIZE,
} from '../../support/http/incoming-file.ts'
import { key, storeFile } from './store-file.ts'

async function storedSize(objects: ObjectStore): Promise<number | undefined> {
  return (await objects.head({ key, signal: AbortSignal.timeout(1000) }))?.size
}

describe('storeContent', () => {
  it('stores the whole content, counted and hashed', async () => {
    const objects = createMemoryStore()
    const bytes = Buffer.alloc(300_000, 'content')
    expect(await storeFile(incomingFile(bytes), { objects })).toEqual({
      size: 300_000,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      crc32: crc32(bytes),
    })
    expect(await storedSize(objects)).toBe(300_000)
  })

  it('stores a content without bytes', async () => {
    const objects = createMemoryStore()
    expect(await storeFile(incomingFile(''), { objects })).toMatchObject({ size: 0 })
    expect(await storedSize(objects)).toBe(0)
  })

  it('hands metadata, key and announced size to the store', async () => {
    const seen: Partial<PutObject>[] = []
    const store = createMemoryStore()
    const objects = faultyStore(store, {
      put: (object) => {
        seen.push({ key: object.key, ...pick(object) })
        return store.put(object)
      },
    })
    await storeFile(incomingFile('abc'), { objects, metadata: () => ({ name: 'a' }) })
    await storeFile(incomingFile('abc', { size: UNKNOWN_SIZE }), { objects })
    expect(seen).toEqual([
      { key, metadata: { name: 'a' }, expectedSize: 3 },
      { key, metadata: {} },
    ])
  })

  it('waits for the end of the request after the content', async () => {
    const order: string[] = []
    const content = Readable.from([Buffer.from('abc')]).on('end', () => order.push('content'))
    const end = async (): Promise<void> => void order.push('end')
    await storeFile(incomingFile('', { content, end }))
    expect(order).toEqual(['content', 'end'])
  })
})

describe('receiveContent rejects', () => {
  it('a request that did not end well rejects with its very error', async () => {
    const fault = new AppError('format_error', 'An epilogue without end.')
    const incoming = incomingFile('abc', { end: () => Promise.reject(fault) })
    await expect(storeFile(incoming)).rejects.toBe(fault)
  })

  it('a content that breaks off rejects with its very error', async () => {
    const fault = new AppError('truncated_body', 'The body ended early.')
    const incoming = incomingFile('', { content: brokenContent('abc', fault) })
    await expect(storeFile(incoming)).rejects.toBe(fault)
  })

  it('a content that fails with an error that is none of ours rejects with one, too', async () => {
    const fault = new Error('aborted')
    const incoming = incomingFile('', { content: brokenContent('abc', fault) })
    await expect(storeFile(incoming)).rejects.toBe(fault)
  })

  it('a content above the limit rejects with it, and nothing is left in the store', async () => {
    const objects = createMemoryStore()
    await expect(storeFile(incomingFile('abcd'), { objects, maxBytes: 3 })).rejects.toMatchObject({
      code: 'file_too_large',
    })
    expect(await storedSize(objects)).toBeUndefined()
  })

  it('a rejection of onBytes is passed on', async () => {
    const refusal = new AppError('capacity_exceeded', 'Full.')
    const onBytes = (): Promise<void> => Promise.reject(refusal)
    await expect(storeFile(incomingFile('abc'), { onBytes })).rejects.toBe(refusal)
  })

  it('a failure of the store is passed on, and destroys the content', async () => {
    const objects = faultyStore(createMemoryStore(), {
      put: async ({ body }) => {
        discardBody({ body })
        throw outage()
      },
    })
    const { content } = stalledContent('abc', '')
    await expect(storeFile(incomingFile('', { content }), { objects })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'An injected fault.',
    })
    expect(content.destroyed).toBe(true)
  })

  it('a failure of a store that took every byte is passed on', async () => {
    const objects = faultyStore(createMemoryStore(), { put: failingPut })
    await expect(storeFile(incomingFile('abc'), { objects })).rejects.toThrow('An injected fault.')
  })

  it('a store that holds another size than came rejects with unavailable', async () => {
    const store = createMemoryStore()
    const objects = faultyStore(store, { put: truncatingPut(store) })
    await expect(storeFile(incomingFile('abc'), { objects })).rejects.toMatchObject({
      code: 'unavailable',
      cause: new Error('sent 3 bytes, stored 2'),
    })
  })

  it.each(['a stalled content', 'a hanging store', 'a store that heeds no signal'])(
    'the reason of the signal is passed on, during %s',
    async (during) => {
      const objects = createMemoryStore()
      const { content, stalled } = stalledContent('abc', '')
      const faults = FAULTS_DURING[during] ?? {}
      const abort = new AbortController()
      const reason = new AppError('request_timeout', 'Too slow.')
      const options = { objects: faultyStore(objects, faults), signal: abort.signal }
      const receiving = storeFile(incomingFile('', { content }), options)
      void stalled.then(() => abort.abort(reason))
      await expect(receiving).rejects.toBe(reason)
      expect(content.destroyed).toBe(true)
      expect(await storedSize(objects)).toBeUndefined()
    },
  )

  it('no rejection comes before the store has settled', async () => {
    const store = createMemoryStore()
    const settled: string[] = []
    const objects = faultyStore(store, {
      put: async ({ body }) => {
        await Array.fromAsync(body).catch(() => undefined)
        await new Promise((resolve) => {
          setTimeout(resolve, 20)
        })
        settled.push('store')
        throw outage()
      },
    })
    const fault = new AppError('truncated_body', 'The body ended early.')
    const incoming = incomingFile('', { content: brokenContent('abc', fault) })
    await expect(storeFile(incoming, { objects })).rejects.toBe(fault)
    expect(settled).toEqual(['store'])
  })

  it('a content that has failed rejects without asking how the request ended', async () => {
    let asked = false
    const end = async (): Promise<void> => {
      asked = true
    }
    const content = contentOf([Buffer.from('abcd')])
    await expect(
      storeFile(incomingFile('', { content, end }), { maxBytes: 3 }),
    ).rejects.toHaveProperty('code', 'file_too_large')
    expect(asked).toBe(false)
  })
})

const FAULTS_DURING: Readonly<Record<string, Partial<ObjectStore>>> = {
  'a hanging store': { put: hangingPut },
  'a store that heeds no signal': { put: failingPut },
}

function pick({ metadata, expectedSize }: PutObject): Partial<PutObject> {
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(expectedSize === undefined ? {} : { expectedSize }),
  }
}
