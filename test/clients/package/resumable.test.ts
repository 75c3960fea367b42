import { utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Client, isProblem } from '../../../packages/js/src/client.ts'
import { MIB } from '../../http/fixture.ts'
import { startBreakingProxy } from '../../support/faults/breaking-proxy.ts'
import {
  type HttpProxyOptions,
  type Mishap,
  startHttpProxy,
} from '../../support/faults/http-proxy.ts'
import { openFilesIn } from '../../support/folder.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { clientOf, createContent, errorOf, streamOf } from './fixture.ts'

let service: TestService
beforeAll(async () => {
  service = await openEmbedded({ maxFileSize: 256 * MIB })
})
afterAll(() => service?.stop())

let opened: AsyncDisposableStack
let user: TestUser
let direct: Client
/** From before the first change. */
let cursor: string
beforeEach(async () => {
  opened = new AsyncDisposableStack()
  user = await service.createUser(256 * MIB)
  direct = clientOf(user, service.url)
  for await (const page of direct.files.list().pages()) cursor = String(page.changes_cursor)
})
afterEach(() => opened.disposeAsync())

const content = createContent(12 * MIB + 12_345)

async function placeOnDisk(bytes: Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(opened), 'film.mov')
  await writeFile(path, bytes)
  return path
}

const unfinished = () => Array.fromAsync(direct.uploads.list())

describe('over a network where every connection breaks', () => {
  it.each([
    ['bytes', () => content.bytes],
    ['a Blob', () => new Blob([content.bytes])],
    ['a stream of unknown length', () => streamOf(content.bytes)],
    ['a path', async () => ({ path: await placeOnDisk(content.bytes) })],
  ])('%s arrive whole', async (_, contentOf) => {
    const proxy = await startBreakingProxy({ port: service.port, seed: 7 })
    opened.defer(() => proxy.stop())
    const told: number[] = []
    const onProgress = ({ sent }: { readonly sent: number }): void => void told.push(sent)
    const { files } = clientOf(user, proxy.url)
    const file = await files.upload('film', await contentOf(), { onProgress })
    expect(file).toMatchObject({ size: content.bytes.length, sha256: content.sha256 })
    expect(proxy.breaks.length).toBeGreaterThan(12)
    expect(told.at(-1)).toBe(content.bytes.length)
    expect(await unfinished()).toEqual([])
  })
})

it('an upload that is aborted reads no more of its file, and closes it', async () => {
  const path = await placeOnDisk(content.bytes)
  const stop = new AbortController()
  let read = 0
  const onProgress = ({ sent }: { readonly sent: number }): void => {
    read = sent
    if (sent > 3 * MIB) stop.abort()
  }
  const failed = errorOf(direct.files.upload('film', { path }, { onProgress, signal: stop.signal }))
  expect(await failed).toMatchObject({ name: 'AbortError' })
  await expect.poll(() => openFilesIn(dirname(path))).toEqual([])
  expect(read).toBeLessThan(5 * MIB)
})

describe('an upload of an earlier process', () => {
  it.each([
    ['a path', async () => ({ path: await placeOnDisk(content.bytes) }), {}],
    ['a File', () => new File([content.bytes], 'film.mov', { lastModified: 5 }), {}],
    ['bytes with a key', () => content.bytes, { resumeKey: 'film, 2026' }],
  ])('an upload of %s is continued by a later process', async (_, contentOf, options) => {
    const same = await contentOf()
    const { id, offset } = await interrupt(same, options)
    expect(offset).toBeGreaterThan(MIB)
    const front = await startFront()
    const file = await clientOf(user, front.url).files.upload('film', same, options)
    expect(file).toMatchObject({ version: id, sha256: content.sha256 })
    expect(front.appended()).toBeLessThanOrEqual(content.bytes.length - offset)
    expect(await unfinished()).toEqual([])
  })

  it('an upload of a path is not continued if the file was written since', async () => {
    const path = await placeOnDisk(content.bytes)
    const { id } = await interrupt({ path }, {})
    await utimes(path, 1, 1)
    const file = await direct.files.upload('film', { path })
    expect(file).toMatchObject({ sha256: content.sha256 })
    expect(file.version).not.toBe(id)
  })

  it('is not continued with other terms, another name or another size', async () => {
    const { id } = await interrupt(content.bytes, { resumeKey: 'film' })
    const shorter = content.bytes.subarray(0, 10 * MIB)
    const { files } = direct
    const resumeKey = 'film'
    const others = [
      await files.upload('film', content.bytes, { resumeKey, visibility: 'public' }),
      await files.upload('other', content.bytes, { resumeKey }),
      await files.upload('film', shorter, { resumeKey }),
      await files.upload('film', content.bytes),
    ]
    expect(others.map(({ version }) => version)).not.toContain(id)
    expect(await unfinished()).toEqual([expect.objectContaining({ upload_id: id })])
    await direct.uploads.cancel(id)
    expect(await unfinished()).toEqual([])
  })

  it('never becomes a mixture: other content with the same key begins anew', async () => {
    const options = { resumeKey: 'careless' }
    const { id } = await interrupt(content.bytes, options)
    const other = createContent(content.bytes.length)
    const file = await direct.files.upload('film', other.bytes, options)
    expect(file.sha256).toBe(other.sha256)
    expect(file.version).not.toBe(id)
    expect(await unfinished()).toEqual([])
    expect(await storedVersions()).toEqual([file.version])
  })

  it('never becomes a mixture, even if the earlier process finishes it meanwhile', async () => {
    const options = { resumeKey: 'careless' }
    const { id } = await interrupt(content.bytes, options)
    const other = createContent(content.bytes.length)
    const finish = () => direct.files.upload('film', content.bytes, options)
    const front = await startFront(before('HEAD', finish))
    const file = await clientOf(user, front.url).files.upload('film', other.bytes, options)
    expect(file.sha256).toBe(other.sha256)
    expect(await storedVersions()).toEqual([id, file.version])
  })

  it('is continued by its id, without a question for others, and kept if it fails again', async () => {
    const { id, offset } = await interrupt(content.bytes, { resumeKey: 'one' })
    const other = new File([content.bytes], 'renamed since.mov')
    const asked: string[] = []
    const stop = new AbortController()
    const onUploadId = (known: string): void => {
      asked.push(known)
      stop.abort()
    }
    const { files, uploads } = direct
    const options = { uploadId: id, onUploadId }
    const failed = files.upload('film', other, { ...options, signal: stop.signal })
    expect(await errorOf(failed)).toMatchObject({ name: 'AbortError' })
    expect(await uploads.get(id)).toMatchObject({ upload_id: id, offset, file: null })
    const front = await startFront()
    const file = await clientOf(user, front.url).files.upload('film', other, options)
    expect(file).toMatchObject({ version: id, sha256: content.sha256 })
    expect(front.appended()).toBe(content.bytes.length - offset)
    expect(asked).toEqual([id, id])
    expect((await uploads.get(id)).file).toMatchObject({ version: id })
  })

  it('is not continued if the caller wants a new one, which is kept', async () => {
    const { id } = await interrupt(content.bytes, { resumeKey: 'one' })
    const stop = new AbortController()
    const options = { resumeKey: 'one', uploadId: null, signal: stop.signal }
    const abort = (): void => stop.abort()
    await errorOf(direct.files.upload('film', content.bytes, { ...options, onUploadId: abort }))
    const left = await unfinished()
    expect(left).toHaveLength(2)
    expect(left[0]?.upload_id).toBe(id)
  })

  it('tells when its file was modified', async () => {
    const lastModified = 1_700_000_000_123
    const path = await placeOnDisk(content.bytes)
    await utimes(path, lastModified / 1000, lastModified / 1000)
    for (const what of [{ path }, new File([content.bytes], 'film', { lastModified })]) {
      const { id } = await interrupt(what, {})
      const { metadata } = await direct.uploads.get(id)
      expect(metadata['modified']).toBe(String(lastModified))
      await direct.uploads.cancel(id)
    }
  })

  it('a cancelled or expired upload begins anew', async () => {
    const options = { resumeKey: 'film' }
    const { id } = await interrupt(content.bytes, options)
    await direct.uploads.cancel(id)
    const file = await direct.files.upload('film', content.bytes, options)
    expect(file).toMatchObject({ sha256: content.sha256 })
    expect(file.version).not.toBe(id)
  })
})

describe('an upload that is refused when all its bytes have arrived', () => {
  const options = { resumeKey: 'film' }
  const shrink = () => service.setCapacity(user, MIB)

  it('is replaced by other content with the same key', async () => {
    const front = await startFront(
      first('PATCH', { waitsAt: content.bytes.length, meanwhile: shrink }),
    )
    const { files } = clientOf(user, front.url)
    await errorOf(files.upload('film', content.bytes, options))
    await service.setCapacity(user, 64 * MIB)
    const other = createContent(content.bytes.length)
    const file = await files.upload('film', other.bytes, options)
    expect(file.sha256).toBe(other.sha256)
    expect((await storedVersions()).at(-1)).toBe(file.version)
  })

  it('is stored once there is room, and its bytes are not sent again', async () => {
    const front = await startFront(
      first('PATCH', { waitsAt: content.bytes.length, meanwhile: shrink }),
    )
    const { files } = clientOf(user, front.url)
    const upload = () => errorOf(files.upload('film', content.bytes, options))
    expect(await upload()).toMatchObject({ code: 'capacity_exceeded' })
    const again = await upload()
    if (!isProblem(again, 'capacity_exceeded')) throw again
    expect(again.problem.capacity).toBe(MIB)
    await service.setCapacity(user, 64 * MIB)
    const [left] = await unfinished()
    const file = await files.upload('film', content.bytes, options)
    expect(file).toMatchObject({ version: left?.upload_id, sha256: content.sha256 })
    expect(front.appended()).toBe(content.bytes.length)
  })
})

describe('an upload that fails', () => {
  it('is cancelled if nothing can continue it', async () => {
    for (const kind of [content.bytes, streamOf(content.bytes)]) {
      const stop = new AbortController()
      const front = await startFront(before('PATCH', () => stop.abort(new RangeError('enough'))))
      const { files } = clientOf(user, front.url)
      const failed = errorOf(files.upload('film', kind, { signal: stop.signal }))
      expect(await failed).toEqual(new RangeError('enough'))
      expect(await unfinished()).toEqual([])
    }
  })

  it('is refused at its creation if it does not fit', async () => {
    await service.setCapacity(user, 10 * MIB)
    const error = await errorOf(direct.files.upload('film', content.bytes))
    if (!isProblem(error, 'capacity_exceeded')) throw error
    expect(error.problem.available).toBe(10 * MIB)
  })

  it('an upload of a stream that does not fit is refused with the figures, and leaves nothing', async () => {
    await service.setCapacity(user, 10 * MIB)
    const error = await errorOf(direct.files.upload('film', streamOf(content.bytes)))
    expect(error).toMatchObject({ code: 'capacity_exceeded' })
    expect(await unfinished()).toEqual([])
  })

  it.each([
    ['', undefined],
    [', also if the response is lost while content is sent', 'refusal lost'],
  ] as const)('an upload whose condition fails is refused with 412%s', async (_, mishap) => {
    const overtake = before('PATCH', () => direct.files.upload('film', Buffer.from('faster')))
    const front = await startFront(async (request) => {
      await overtake?.(request)
      const { method, headers } = request
      return method === 'PATCH' && headers['content-length'] !== '0' ? mishap : undefined
    })
    const { files } = clientOf(user, front.url)
    const path = await placeOnDisk(content.bytes)
    const error = await errorOf(files.upload('film', { path }, { ifNoneMatch: '*' }))
    expect(error).toMatchObject({ code: 'precondition_failed' })
    expect(await unfinished()).toEqual([])
  })

  it('an upload that another client cancels says so', async () => {
    const cancel = async (): Promise<void> => {
      // Before, it would be unknown afterwards.
      await expect.poll(async () => (await unfinished())[0]?.state).toBe('receiving')
      const [upload] = await unfinished()
      await direct.uploads.cancel(upload?.upload_id ?? '')
    }
    const front = await startFront(first('PATCH', { waitsAt: 2 * MIB, meanwhile: cancel }))
    const error = await errorOf(clientOf(user, front.url).files.upload('film', content.bytes))
    expect(isProblem(error, 'upload_gone') && error.problem.outcome).toBe('cancelled')
  })
})

it('an upload that is replaced as soon as it is stored says so', async () => {
  const replace = () => direct.files.upload('film', Buffer.from('newer'))
  const front = await startFront(before('GET', replace))
  const error = await errorOf(clientOf(user, front.url).files.upload('film', content.bytes))
  expect(error).toMatchObject({ code: 'upload_superseded' })
  expect(await storedVersions()).toHaveLength(2)
})

describe('a lost response', () => {
  it('a lost response to the creation does not leave a second upload', async () => {
    const front = await startFront(first('POST', 'unanswered'))
    const ids: string[] = []
    const file = await clientOf(user, front.url).files.upload('film', content.bytes, {
      onUploadId: (id) => void ids.push(id),
    })
    expect(file).toMatchObject({ sha256: content.sha256 })
    expect(ids).toEqual([file.version])
    expect(await unfinished()).toEqual([])
  })

  it.each([
    ['bytes', () => content.bytes],
    ['a stream', () => streamOf(content.bytes)],
  ])('a lost response to the last append of %s does not send it again', async (_, contentOf) => {
    let isLost = false
    const front = await startFront(({ method, headers }) => {
      const end = Number(headers['upload-offset']) + Number(headers['content-length'])
      if (isLost || method !== 'PATCH' || end !== content.bytes.length) return undefined
      isLost = true
      return 'unanswered'
    })
    const file = await clientOf(user, front.url).files.upload('film', contentOf())
    expect(isLost).toBe(true)
    expect(file).toMatchObject({ sha256: content.sha256 })
    expect(front.appended()).toBe(content.bytes.length)
  })
})

describe('the end of a stream', () => {
  it.each([8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB])(
    'a stream ends after %d bytes if they are its last',
    async (size) => {
      const { bytes, sha256 } = createContent(size)
      const file = await direct.files.upload('film', streamOf(bytes, 1_000_003))
      expect(file).toMatchObject({ size, sha256 })
    },
  )

  it('is the caller’s, if the upload fails before: it is cancelled', async () => {
    let reason: unknown
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(MIB)),
      cancel: () => void (reason = 'cancelled'),
    })
    await service.setCapacity(user, MIB)
    expect(await errorOf(direct.files.upload('film', stream))).toMatchObject({
      code: 'capacity_exceeded',
    })
    await expect.poll(() => reason).toBe('cancelled')
  })
})

/** The versions of files that were ever stored, by the changes of the repository. */
async function storedVersions(): Promise<readonly string[]> {
  const versions: string[] = []
  await direct.files.upload('last', Buffer.of())
  for await (const { name, version } of direct.changes.follow({ cursor })) {
    if (name === 'last') break
    if (version !== undefined) versions.push(version)
  }
  return versions
}

/** Leaves an upload behind, as a process does that is killed in the middle of it. */
async function interrupt(
  what: Parameters<Client['files']['upload']>[1],
  options: { readonly resumeKey?: string },
) {
  const killed = new AbortController()
  const front = await startFront(
    first('PATCH', { breaksAt: 2 * MIB, meanwhile: () => killed.abort() }),
  )
  const { signal } = killed
  const failed = errorOf(
    clientOf(user, front.url).files.upload('film', what, { ...options, signal }),
  )
  expect(await failed).toMatchObject({ name: 'AbortError' })
  const [upload, ...more] = await unfinished()
  if (upload === undefined || more.length > 0) throw new Error('Not one unfinished upload.')
  // Recorded when the service has noticed that the connection is lost.
  await expect.poll(async () => (await unfinished())[0]?.offset).toBeGreaterThan(0)
  const [{ offset } = upload] = await unfinished()
  return { id: upload.upload_id, offset }
}

/** A proxy before the service that counts the bytes of appends. */
async function startFront(onRequest?: HttpProxyOptions['onRequest']) {
  const proxy = await startHttpProxy({ port: service.port, onRequest })
  opened.defer(() => proxy.stop())
  const appends = () => proxy.requests.filter(({ method }) => method === 'PATCH')
  const appended = () => appends().reduce((sum, { received }) => sum + received, 0)
  return { url: proxy.url, appended }
}

/** Has this mishap meet the first request with that method. */
function first(method: string, mishap: Mishap): HttpProxyOptions['onRequest'] {
  let isMet = false
  return (request) => {
    if (isMet || request.method !== method) return undefined
    isMet = true
    return mishap
  }
}

/** Does something before the first request with that method is passed on. */
function before(method: string, act: () => unknown): HttpProxyOptions['onRequest'] {
  let isDone = false
  return async (request) => {
    if (isDone || request.method !== method) return undefined
    isDone = true
    await act()
    return undefined
  }
}
