import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteMeter, createByteMeter } from '../../../src/core/uploads/byte-meter.ts'
import { AppError } from '../../../src/core/errors.ts'
import { contentOf } from '../../support/incoming-file.ts'

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), {
  minLength: 1,
  maxLength: 20,
})

describe('createByteMeter', () => {
  it('passes any content on unchanged, counted and hashed (property)', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, async (chunks) => {
        const meter = createByteMeter({ maxBytes: 1000, onBytes: () => undefined })
        const whole = Buffer.concat(chunks)
        expect(await passed(meter, chunks)).toEqual(whole)
        expect(meter.bytes()).toBe(whole.byteLength)
        expect(meter.sha256()).toBe(createHash('sha256').update(whole).digest('hex'))
      }),
    )
  })

  it('knows the digest of no bytes at all', async () => {
    const meter = createByteMeter({ maxBytes: 0, onBytes: () => undefined })
    expect(await passed(meter, [])).toHaveLength(0)
    expect(meter.bytes()).toBe(0)
    expect(meter.sha256()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  it('lets exactly the limit pass and fails one byte later, however it is cut (property)', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, async (chunks) => {
        const { byteLength } = Buffer.concat(chunks)
        const exact = createByteMeter({ maxBytes: byteLength, onBytes: () => undefined })
        expect(await passed(exact, chunks)).toHaveLength(byteLength)
        const short = createByteMeter({ maxBytes: byteLength - 1, onBytes: () => undefined })
        await expect(passed(short, chunks)).rejects.toMatchObject({
          code: 'file_too_large',
          facts: { max_file_size: byteLength - 1 },
        })
      }),
    )
  })

  it('reports each total before its bytes pass', async () => {
    const totals: number[] = []
    const meter = createByteMeter({
      maxBytes: 100,
      onBytes: (total) => void totals.push(total),
    })
    await passed(meter, [Buffer.alloc(3), Buffer.alloc(4), Buffer.alloc(5)])
    expect(totals).toEqual([3, 7, 12])
  })

  it('holds bytes back until their report has been settled', async () => {
    const reported = Promise.withResolvers<void>()
    const settled = Promise.withResolvers<void>()
    const meter = createByteMeter({
      maxBytes: 100,
      onBytes: () => (reported.resolve(), settled.promise),
    })
    const seen: string[] = []
    meter.stream.on('data', () => seen.push('bytes'))
    const flow = pipeline(contentOf([Buffer.from('abc')]), meter.stream)
    await reported.promise
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    seen.push('settled')
    settled.resolve()
    await flow
    expect(seen).toEqual(['settled', 'bytes'])
  })

  it('fails with the very error of the report, and passes nothing', async () => {
    const refusal = new AppError('capacity_exceeded', 'Full.')
    const meter = createByteMeter({ maxBytes: 100, onBytes: () => Promise.reject(refusal) })
    const seen: unknown[] = []
    meter.stream.on('data', (chunk) => seen.push(chunk))
    await expect(pipeline(contentOf([Buffer.from('abc')]), meter.stream)).rejects.toBe(refusal)
    expect(seen).toEqual([])
  })

  it('does not report what is over the limit', async () => {
    const totals: number[] = []
    const meter = createByteMeter({ maxBytes: 5, onBytes: (total) => void totals.push(total) })
    await expect(passed(meter, [Buffer.alloc(3), Buffer.alloc(3)])).rejects.toHaveProperty(
      'code',
      'file_too_large',
    )
    expect(totals).toEqual([3])
  })
})

async function passed(meter: ByteMeter, chunks: readonly Uint8Array[]): Promise<Buffer> {
  const [out] = await Promise.all([buffer(meter.stream), pipeline(contentOf(chunks), meter.stream)])
  return out
}
