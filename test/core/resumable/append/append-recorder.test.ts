import { describe, expect, it } from 'vitest'
import { AppendRecorder, HOLDER_MS } from '../../../../src/core/resumable/append/append-recorder.ts'
import { PendingReleases } from '../../../../src/core/resumable/append/running-appends.ts'
import type {
  RecordAppend,
  ResumableUpload,
} from '../../../../src/core/resumable/resumable-ledger.ts'
import { freshKey } from '../../../support/objects.ts'

const running = { releases: new PendingReleases() }

const UPLOAD = { version: 'v', epoch: 3, offset: 8, storeState: '{}' } as unknown as ResumableUpload

/** The records that reach the ledger when an append with a part and a tail ends; by a release if nothing is said. */
async function release(
  isAtomic: boolean,
  end = (recorder: AppendRecorder): Promise<unknown> => recorder.release(),
): Promise<readonly RecordAppend[]> {
  const records: RecordAppend[] = []
  const ledger = {
    recordAppend: async (record: RecordAppend) => {
      records.push(record)
      return true
    },
  }
  using recorder = new AppendRecorder({ ledger, running }, { upload: UPLOAD, isAtomic })
  const part = { firstByte: 8, size: 8, receipt: 'p', objectKey: undefined }
  const tail = { firstByte: 16, size: 5, receipt: 't', objectKey: freshKey() }
  recorder.note({ offset: 21, replacedFrom: 8, pieces: [part, tail], storeState: '{"id":1}' })
  recorder.noteTail(tail.size)
  await end(recorder)
  return records
}

describe('an append that runs', () => {
  it('records nothing that a checksum can still discard', async () => {
    const records: number[] = []
    const ledger = {
      recordAppend: async ({ offset }: RecordAppend) => {
        records.push(offset)
        return true
      },
    }
    using recorder = new AppendRecorder(
      { ledger, running, recordMs: 1 },
      { upload: UPLOAD, isAtomic: true },
    )
    recorder.note({ offset: 21, replacedFrom: 8, pieces: [], storeState: '{}' })
    await expect.poll(() => records.length).toBeGreaterThan(2)
    expect(new Set(records)).toEqual(new Set([8]))
  })
})

describe('an append that ends before its time', () => {
  it('records what it has stored, and releases the upload', async () => {
    const [record, ...others] = await release(false)
    expect(record).toMatchObject({ epoch: 3, offset: 21, replacedFrom: 8, holderMs: undefined })
    expect(record?.pieces).toHaveLength(2)
    expect(others).toEqual([])
  })

  it('R31 records nothing if a checksum covers all of it, and says what its tail holds', async () => {
    const [record, ...others] = await release(true)
    expect(record).toMatchObject({ offset: 8, pieces: [], sentTailBytes: 5 })
    expect(record?.holderMs).toBeUndefined()
    expect(record?.sealed).toBeUndefined()
    expect(others).toEqual([])
  })
})

describe('an append that ends', () => {
  it('releases the upload, or holds it for its finish if it has all bytes', async () => {
    const ends = [undefined, { digest: undefined }].map(async (sealed) => {
      const [record] = await release(false, (recorder) => recorder.end(recorder.latest, sealed))
      return record
    })
    const [open, sealed] = await Promise.all(ends)
    expect(open).toMatchObject({ offset: 21, holderMs: undefined, sealed: undefined })
    expect(sealed).toMatchObject({ offset: 21, holderMs: HOLDER_MS, sealed: {} })
  })
})
