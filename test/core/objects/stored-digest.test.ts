import { createHash } from 'node:crypto'
import { addAbortSignal, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createVersion, objectKey } from '../../../src/core/objects/object-key.ts'
import { readStoredDigest } from '../../../src/core/objects/stored-digest.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createMemoryStore } from '../../support/memory-store.ts'

test('each chunk is given back once it is counted and hashed', async () => {
  const chunks = [Buffer.from('one'), Buffer.from('two')]
  const content = Buffer.concat(chunks)
  const released: Uint8Array[] = []
  const objects = {
    ...createMemoryStore(),
    open: async () => ({
      body: Readable.from(chunks),
      size: content.length,
      release: (chunk: Uint8Array) => void released.push(chunk),
    }),
  }
  const key = objectKey(parseUserId('ann'), createVersion())
  const { signal } = new AbortController()
  let bytes = 0
  const onBytes = (more: number): void => {
    expect(released.length).toBe(bytes / 3)
    bytes += more
  }
  const read = await readStoredDigest({ objects, key, size: content.length, onBytes, signal })
  expect(read.sha256).toBe(createHash('sha256').update(content).digest('hex'))
  expect(bytes).toBe(content.length)
  expect(released).toEqual(chunks)
})

test('a read that the signal cuts off rejects with its reason', async () => {
  const stop = new AbortController()
  const body = Readable.from([Buffer.from('one')])
  const objects = {
    ...createMemoryStore(),
    open: async () => ({ body: addAbortSignal(stop.signal, body), size: 6 }),
  }
  const key = objectKey(parseUserId('ann'), createVersion())
  const onBytes = (): void => stop.abort(new Error('fenced'))
  const read = readStoredDigest({ objects, key, size: 6, onBytes, signal: stop.signal })
  await expect(read).rejects.toThrow('fenced')
})
