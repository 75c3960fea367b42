import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { chunked, digest, read } from '../../support/objects.ts'
import { heldBody } from '../../support/recorded-upload.ts'
import { broken, type Current, expectFinished, open, removeTails } from './append-subject.ts'

export function testBreaks(current: Current): void {
  it('keeps every byte that came, wherever it breaks off, and brings its error', async () => {
    const { partSize } = current()
    const content = randomBytes(2 * partSize + 5)
    for (const end of [
      0,
      1,
      partSize - 1,
      partSize,
      partSize + 1,
      2 * partSize,
      2 * partSize + 4,
    ]) {
      const upload = open(current, content.length)
      const failure = new Error('connection reset')
      const appended = await upload.append(broken(content.subarray(0, end), failure))
      expect(appended).toMatchObject({ durable: { offset: end }, failure })
      await upload.append(content.subarray(end))
      await expectFinished(current(), upload, content)
    }
  })

  it('is no reason to wait for the store when the signal aborts', async () => {
    const { partSize } = current()
    const content = randomBytes(2 * partSize)
    const upload = open(current, content.length)
    await upload.append(content.subarray(0, 100))
    const { body, give, drained } = heldBody()
    give(content.subarray(100, partSize + 100))
    const caller = new AbortController()
    const appending = upload.append(body, { signal: caller.signal })
    await drained()
    const reason = new Error('shutdown')
    caller.abort(reason)
    await expect(appending).rejects.toMatchObject({ code: 'unavailable', cause: reason })
    expect(body.destroyed).toBe(true)
    expect(upload.offset).toBeGreaterThanOrEqual(100)
    await upload.append(content.subarray(upload.offset))
    await expectFinished(current(), upload, content)
  })

  it('is not begun when the signal has aborted', async () => {
    const upload = open(current, 10)
    const signal = AbortSignal.abort(new Error('too late'))
    const appending = upload.append(chunked(randomBytes(10)), { signal })
    await expect(appending).rejects.toMatchObject({ code: 'unavailable' })
  })
}

export function testTakeovers(current: Current): void {
  it('goes on from what is recorded while the one before still writes, also the same bytes', async () => {
    const { partSize } = current()
    for (const offset of [0, 100, partSize + 100]) {
      const content = randomBytes(3 * partSize)
      const upload = open(current, content.length)
      if (offset > 0) await upload.append(content.subarray(0, offset))
      const { body, give, drained } = heldBody()
      give(content.subarray(offset, offset + partSize))
      const older = upload.append(body)
      await drained()
      const reached = upload.offset
      const newer = await upload.append(content.subarray(reached, reached + partSize + 1))
      expect(newer?.durable.offset).toBe(Math.min(reached + partSize + 1, content.length))
      give(content.subarray(offset + partSize, offset + partSize + 10_000))
      body.destroy(new Error('gone at last'))
      await older.catch(() => undefined)
      await upload.append(content.subarray(upload.offset))
      await expectFinished(current(), upload, content)
    }
  })

  it('is not mixed with other bytes that the one before still writes', async () => {
    const { store, partSize, keepsReplacedParts = false } = current()
    for (const offset of [0, 100, partSize + 100]) {
      const content = randomBytes(3 * partSize)
      const upload = open(current, content.length)
      if (offset > 0) await upload.append(content.subarray(0, offset))
      const { body, give, drained } = heldBody()
      const older = upload.append(body)
      upload.crash()
      give(randomBytes(1000))
      await drained()
      await upload.append(content.subarray(upload.offset, -1))
      give(randomBytes(content.length - offset - 1000), new Error('gone at last'))
      await older.catch(() => undefined)
      await upload.append(content.subarray(upload.offset))
      // Where it knew the upload, it has replaced a part of it.
      const isReplaced = store.hasTails && offset > partSize && !keepsReplacedParts
      const finished = await upload.finish()
      const stored = await read(store, upload.key)
      expect([finished?.size, stored?.sha256]).toEqual(
        isReplaced ? [undefined, undefined] : [content.length, digest(content)],
      )
    }
  })

  it('leaves nothing of one that wakes when the upload is finished, or before (R41)', async () => {
    const subject = current()
    const { store, partSize } = subject
    for (const offset of [0, 100, partSize + 100]) {
      const content = randomBytes(3 * partSize)
      const upload = open(current, content.length)
      if (offset > 0) await upload.append(content.subarray(0, offset))
      const before = upload.suspend(randomBytes(partSize + 7))
      const after = upload.suspend(randomBytes(partSize + 7))
      await upload.append(content.subarray(upload.offset, offset + partSize))
      if (offset === 0) await before.wake()
      await upload.append(content.subarray(upload.offset))
      await expectFinished(subject, upload, content)
      await after.wake()
      expect(await subject.residue(upload.key)).toEqual([])
      expect(await read(store, upload.key)).toMatchObject({ sha256: digest(content) })
      await removeTails(subject, upload)
    }
  })

  it('can itself be taken over from before it has recorded anything', async () => {
    const { partSize } = current()
    for (const offset of [0, 100, partSize + 100]) {
      const content = randomBytes(2 * partSize + 200)
      const upload = open(current, content.length)
      if (offset > 0) await upload.append(content.subarray(0, offset))
      const stalled = [heldBody(), heldBody()]
      const appending = stalled.map(({ body }) => upload.append(body))
      await upload.append(content.subarray(upload.offset, -100))
      for (const { body } of stalled) body.destroy(new Error('gone at last'))
      await Promise.allSettled(appending)
      await upload.append(content.subarray(-100))
      await expectFinished(current(), upload, content)
    }
  })
}
