import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { incomingFile } from '../../support/http/incoming-file.ts'
import { never } from '../../support/objects.ts'
import { appendIn, createIn, openS3Uploads } from './s3-uploads.ts'

describe('the end of a process', () => {
  it('R30 ends a finish that waits for the store, and leaves it to the next request', async () => {
    await using opened = await openS3Uploads()
    const { caller, objects } = opened
    const begun = Promise.withResolvers<void>()
    const finish: typeof objects.finish = async ({ signal }) => {
      begun.resolve()
      await once(signal, 'abort')
      throw signal.reason
    }
    const uploads = opened.open(faultyStore(objects, { finish }))
    const { version } = await createIn(uploads, caller, 5)
    const shutdown = new AbortController()
    // Content that arrives in one append needs no finish.
    await appendIn(uploads, caller, { version, content: 'hel' })
    const append = { version, offset: 3, content: 'lo', shutdown: shutdown.signal }
    const appending = appendIn(uploads, caller, append)
    await begun.promise
    const reason = new AppError('unavailable', 'The service is shutting down.')
    shutdown.abort(reason)
    await expect(appending).rejects.toBe(reason)
    const named = { subject: caller, version, signal: never(), shutdown: never() }
    expect(await opened.open().resume(named)).toMatchObject({ state: 'finished', offset: 5 })
  })

  it('R30 stops an append that begins when all others were stopped, with what it has', async () => {
    await using opened = await openS3Uploads()
    const { caller } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, 5)
    await uploads.stopAll()
    const open = (stop: AbortSignal) => {
      const content = new PassThrough()
      content.write('hel')
      const end = (): void => void content.end()
      if (stop.aborted) end()
      stop.addEventListener('abort', end)
      return { ...incomingFile(''), content, [Symbol.dispose]: () => undefined }
    }
    const appended = await appendIn(uploads, caller, { version, content: 'hello', open })
    expect(appended).toMatchObject({ offset: 3, cut: 'shutdown' })
  })
})
