import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Ledger } from '../../../../src/database/ledger.ts'
import { createS3Store } from '../../../../src/object-store/s3/store.ts'
import { outage } from '../../../support/faults/faults.ts'
import { never } from '../../../support/objects.ts'
import { appendIn, createIn, openS3Uploads, type S3Uploads } from '../s3-uploads.ts'

let opened: S3Uploads

beforeEach(async () => {
  opened = await openS3Uploads()
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await opened[Symbol.asyncDispose]()
})

type Claim = Ledger['claimAppend']

/** What becomes of the next claim. */
function nextClaim(work: (claim: () => ReturnType<Claim>) => ReturnType<Claim>): void {
  const { ledger } = opened.core
  const claimAppend = ledger.claimAppend.bind(ledger)
  vi.spyOn(ledger, 'claimAppend').mockImplementationOnce((asked) => work(() => claimAppend(asked)))
}

/** A small content that one request may write as the object: an append that is not released loses it. */
async function createSmall() {
  const here = opened.open()
  const { version } = await createIn(here, opened.caller, 5)
  const append = (uploads = opened.open()) =>
    appendIn(uploads, opened.caller, { version, content: 'right' })
  return { here, version, append }
}

describe('an upload outlives a slow database', () => {
  it('a database that answers the claim late ends no upload (R39)', async () => {
    const { here, append } = await createSmall()
    vi.useFakeTimers({ toFake: ['performance'] })
    nextClaim(async (claim) => {
      const claimed = await claim()
      vi.advanceTimersByTime(5_000)
      return claimed
    })
    await expect(append(here)).rejects.toMatchObject({ code: 'upload_busy' })
    expect(opened.s3.calls).toEqual([])
    expect(await append()).toMatchObject({ committed: {} })
  })

  it.each([true, false])(
    'a database that leaves the outcome of the claim open ends no upload: %s (R39)',
    async (isMade) => {
      const { here, append } = await createSmall()
      nextClaim(async (claim) => {
        if (isMade) await claim()
        throw outage()
      })
      await expect(append(here)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await append()).toMatchObject({ committed: {} })
    },
  )

  it.each([true, false])(
    'a database that then answers nothing for a while ends no upload: %s (R39)',
    async (isMade) => {
      const { here, append } = await createSmall()
      const { ledger } = opened.core
      vi.spyOn(ledger, isMade ? 'recordAppend' : 'fence').mockRejectedValueOnce(outage())
      nextClaim(async (claim) => {
        if (isMade) await claim()
        throw outage()
      })
      await expect(append(here)).rejects.toMatchObject({ code: 'unavailable' })
      await here.stopAsked()
      await here.stopAsked()
      expect(await append()).toMatchObject({ committed: {} })
    },
  )

  it('a claim that takes effect after it was given up ends no upload (R39)', async () => {
    const { here, append } = await createSmall()
    const late = Promise.withResolvers<void>()
    nextClaim(async (claim) => {
      void late.promise.then(claim)
      throw outage()
    })
    await expect(append(here)).rejects.toMatchObject({ code: 'unavailable' })
    const appending = append()
    late.resolve()
    expect(await appending).toMatchObject({ committed: {} })
  })

  it('a database that does not record a release at first ends no upload (R39)', async () => {
    const { here, append } = await createSmall()
    const { ledger } = opened.core
    opened.space = () => Promise.reject(outage())
    vi.spyOn(ledger, 'recordAppend').mockRejectedValueOnce(outage())
    await expect(append(here)).rejects.toMatchObject({ code: 'unavailable' })
    opened.space = async () => ({ release: () => undefined })
    await here.stopAsked()
    expect(await append()).toMatchObject({ committed: {} })
  })
})

describe('an upload outlives a slow store', () => {
  it('a store that writes a small content for longer than others wait ends no upload (R40)', async () => {
    const { s3, caller } = opened
    const minute = { callMs: 60_000, putMs: 60_000, partMs: 60_000 }
    const deadlines = { ...s3.options().deadlines, ...minute }
    const store = createS3Store({ ...s3.options(), deadlines })
    const [here, there] = [opened.open(store), opened.open()]
    const { version, append } = await createSmall()
    const stored = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    s3.inject('PutObject', async (apply) => {
      asked.resolve()
      await stored.promise
      return apply()
    })
    const appending = append(here)
    await asked.promise
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const named = { subject: caller, version, signal: never(), shutdown: never() }
    for (const uploads of [there, here]) {
      const resumed = await passing(uploads.resume(named).catch((error: unknown) => error))
      expect(resumed).toMatchObject({ code: 'upload_busy' })
    }
    stored.resolve()
    expect(await appending).toMatchObject({ committed: {} })
    expect(await there.resume(named)).toMatchObject({ state: 'finished' })
    await store.close()
  })
})

/** Lets time pass until it is settled. */
async function passing<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController()
  void work.finally(() => over.abort())
  while (!over.signal.aborted) {
    await vi.advanceTimersByTimeAsync(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return await work
}
