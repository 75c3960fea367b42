import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { incomingFile } from '../../../support/http/incoming-file.ts'
import { never } from '../../../support/objects.ts'
import { appendIn, createIn, openS3Uploads } from '../s3-uploads.ts'
import { type Begun, beginIn } from './begun-append.ts'

describe('an upload that another instance holds', () => {
  afterEach(() => vi.useRealTimers())

  it('R02 is taken over within 50 ms if that instance releases it at once', async () => {
    await using opened = await openS3Uploads()
    const { caller, core } = opened
    const here = opened.open()
    const { version } = await createIn(here, caller, 5)
    const content = new PassThrough()
    content.write('hel')
    const begun = Promise.withResolvers<void>()
    const open = () => {
      begun.resolve()
      return { ...incomingFile(''), content, [Symbol.dispose]: () => undefined }
    }
    const appending = appendIn(here, caller, { version, content: 'hello', open })
    await begun.promise
    const askToStop = core.ledger.askToStop.bind(core.ledger)
    const asked = Promise.withResolvers<void>()
    vi.spyOn(core.ledger, 'askToStop').mockImplementation(async (named) => {
      await askToStop(named)
      asked.resolve()
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const named = { subject: caller, version, signal: never(), shutdown: never() }
    const resumed = opened.open().resume(named)
    await asked.promise
    content.end()
    await appending
    await vi.advanceTimersByTimeAsync(50)
    // It no longer waits, but looks.
    expect(vi.getTimerCount()).toBe(0)
    expect(await resumed).toMatchObject({ offset: 3 })
  })

  it('is taken over with the bytes of an append that has begun meanwhile (I11)', async () => {
    await using opened = await openS3Uploads()
    const { caller, core } = opened
    const here = opened.open()
    const { version } = await createIn(here, caller, 9)
    const first = await beginIn(here, caller, { version, content: 'hel' })
    const askToStop = core.ledger.askToStop.bind(core.ledger)
    let second: Begun | undefined
    vi.spyOn(core.ledger, 'askToStop').mockImplementation(async (named) => {
      await askToStop(named)
      if (second !== undefined) return await second.end()
      await first.end()
      second = await beginIn(here, caller, { version, offset: 3, content: 'lo' })
    })
    const named = { subject: caller, version, signal: never(), shutdown: never() }
    expect(await opened.open().resume(named)).toMatchObject({ offset: 5 })
  })

  it('is asked for, although an older append of this instance still runs (I11)', async () => {
    await using opened = await openS3Uploads()
    const { caller, core } = opened
    const [here, there] = [opened.open(), opened.open()]
    const { version } = await createIn(here, caller, 9)
    const stale = await beginIn(here, caller, { version, content: 'hello' })
    const named = { userId: caller.userId, version }
    const { epoch } = (await core.ledger.findResumable(named)) ?? { epoch: 0 }
    await core.ledger.fence({ ...named, epoch })
    const held = await beginIn(there, caller, { version, content: 'good' })
    const askToStop = core.ledger.askToStop.bind(core.ledger)
    vi.spyOn(core.ledger, 'askToStop').mockImplementation(async (asked) => {
      await askToStop(asked)
      await held.end()
    })
    const resuming = { subject: caller, version, signal: never(), shutdown: never() }
    expect(await here.resume(resuming)).toMatchObject({ offset: 4 })
    await stale.end()
  })
})
