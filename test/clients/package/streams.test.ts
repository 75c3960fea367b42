import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../packages/js/src/client.ts'
import { createContent, errorOf, IMPATIENT, openPackage, type PackageFixture } from './fixture.ts'

const opened = new AsyncDisposableStack()
let fixture: PackageFixture
beforeAll(async () => {
  fixture = await openPackage(opened)
})
afterAll(() => opened.disposeAsync())

describe('the stream of an upload', () => {
  it('can have the signal of the upload, also if it has aborted', async () => {
    const { files } = fixture.client
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', note)
    opened.defer(() => void process.off('unhandledRejection', note))
    const signal = AbortSignal.abort(new RangeError('enough'))
    const content = Readable.from([Buffer.from('a')], { signal })
    expect(await errorOf(files.upload('a', content, { signal }))).toEqual(new RangeError('enough'))
    // Time to notice a rejection that nobody handles.
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })

  it('is cancelled if the upload fails, also before the first byte', async () => {
    const token = (): never => {
      throw new RangeError('signed out')
    }
    const { files } = createClient({ url: fixture.network.url, token, retry: IMPATIENT })
    for (const resume of [false, 'auto'] as const) {
      let isCancelled = false
      const content = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
        cancel: () => void (isCancelled = true),
      })
      expect(await errorOf(files.upload('a', content, { resume }))).toEqual(
        new RangeError('signed out'),
      )
      await expect.poll(() => isCancelled).toBe(true)
    }
  })

  it('leaves no timer if something else reads it', async () => {
    const content = new Blob(['a']).stream()
    content.getReader()
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout')
    const before = timers().length
    const upload = fixture.client.files.upload('a', content, { resume: false })
    expect(await errorOf(upload)).toBeInstanceOf(TypeError)
    expect(timers().length).toBeLessThanOrEqual(before)
  })
})

it('an error of onProgress ends the upload, and is no lost connection', async () => {
  const onProgress = (): never => {
    throw new RangeError('mine')
  }
  const { bytes } = createContent(1_000_000)
  const upload = fixture.client.files.upload('a', bytes, { onProgress })
  expect(await errorOf(upload)).toEqual(new RangeError('mine'))
})
