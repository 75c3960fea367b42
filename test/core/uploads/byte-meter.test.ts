import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { createByteMeter } from '../../../src/core/uploads/byte-meter.ts'
import { contentOf } from '../../support/http/incoming-file.ts'

const OPEN = { maxBytes: 2 ** 30, digests: [], onBytes: () => undefined }

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), {
  minLength: 1,
  maxLength: 20,
})

describe('createByteMeter', () => {
  it('passes any content on unchanged, counted and hashed (property)', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, async (chunks) => {
        const hash = createHash('sha256')
        const meter = createByteMeter({ ...OPEN, digests: [hash] })
        const whole = Buffer.concat(chunks)
        expect(await passed(meter, chunks)).toEqual(whole)
        expect(meter.bytes).toBe(whole.byteLength)
        expect(hash.digest('hex')).toBe(createHash('sha256').update(whole).digest('hex'))
      }),
    )
  })

  it('counts from where the stream begins in the file', async () => {
    const meter = createByteMeter({ ...OPEN, offset: 5, maxBytes: 8 })
    expect(await passed(meter, [Buffer.alloc(3)])).toHaveLength(3)
    expect(meter.bytes).toBe(8)
    const long = createByteMeter({ ...OPEN, offset: 5, maxBytes: 8 })
    await expect(passed(long, [Buffer.alloc(4)])).rejects.toHaveProperty('code', 'file_too_large')
  })

  it('waits for its client until it holds what nobody reads, and no longer than to the end', async () => {
    const meter = createByteMeter(OPEN)
    expect(meter.isAwaited).toBe(true)
    meter.stream.write(Buffer.alloc(2 ** 20))
    expect(meter.isAwaited).toBe(false)
    meter.stream.read()
    expect(meter.isAwaited).toBe(true)
    meter.stream.end()
    await buffer(meter.stream)
    expect(meter.isAwaited).toBe(false)
  })

  it('lets exactly the limit pass and fails one byte later, however it is cut (property)', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, async (chunks) => {
        const { byteLength } = Buffer.concat(chunks)
        const exact = createByteMeter({ ...OPEN, maxBytes: byteLength })
        expect(await passed(exact, chunks)).toHaveLength(byteLength)
        const short = createByteMeter({ ...OPEN, maxBytes: byteLength - 1 })
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
      ...OPEN,
      onBytes: (total) => void totals.push(total),
    })
    await passed(meter, [Buffer.alloc(3), Buffer.alloc(4), Buffer.alloc(5)])
    expect(totals).toEqual([3, 7, 12])
  })

  it('holds bytes back until their report has been settled', async () => {
    const reported = Promise.withResolvers<void>()
    const settled = Promise.withResolvers<void>()
    const meter = createByteMeter({
      ...OPEN,
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
    const meter = createByteMeter({ ...OPEN, onBytes: () => Promise.reject(refusal) })
    const seen: unknown[] = []
    meter.stream.on('data', (chunk) => seen.push(chunk))
    await expect(pipeline(contentOf([Buffer.from('abc')]), meter.stream)).rejects.toBe(refusal)
    expect(seen).toEqual([])
  })

  it('does not report what is over the limit', async () => {
    const totals: number[] = []
    const meter = createByteMeter({
      ...OPEN,
      maxBytes: 5,
      onBytes: (total) => void totals.push(total),
    })
    await expect(passed(meter, [Buffer.alloc(3), Buffer.alloc(3)])).rejects.toHaveProperty(
      'code',
      'file_too_large',
    )
    expect(totals).toEqual([3])
  })
})

async function passed(
  { stream }: ReturnType<typeof createByteMeter>,
  chunks: readonly Uint8Array[],
): Promise<Buffer> {
  const [out] = await Promise.all([buffer(stream), pipeline(contentOf(chunks), stream)])
  return out
}
