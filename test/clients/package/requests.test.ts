import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createAdminClient } from '../../../packages/js/src/admin.ts'
import { type CloudRepositoryError, createClient } from '../../../packages/js/src/client.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { errorOf, IMPATIENT } from './fixture.ts'

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())
afterEach(() => vi.unstubAllGlobals())

const url = 'http://fake'

describe('the url', () => {
  it.each(['', 'files.example.com', 'localhost:3000', 'ftp://a', 'http://', undefined])(
    '%j is refused before anything is sent',
    (wrong) => {
      const given = { url: wrong as string }
      const invalid = expect.objectContaining({ code: 'invalid_url' }) as Error
      expect(() => createClient(given)).toThrow(invalid)
      expect(() => createAdminClient({ ...given, token: 'x' })).toThrow(invalid)
    },
  )

  it('can be a path where there is a page, and is refused elsewhere only when it is used', async () => {
    const { calls, client: fetch } = answering('unavailable', 404)
    const client = createClient({ url: '/files', fetch })
    expect(await errorOf(client.session())).toMatchObject({ code: 'invalid_url' })
    expect(calls).toEqual([])
    vi.stubGlobal('location', new URL('https://a/page?b'))
    await errorOf(client.session())
    expect(calls.map(String)).toEqual(['https://a/files/session'])
  })

  it.each([
    ['http://a', 'http://a/session'],
    ['https://a:1/base/path', 'https://a:1/base/path/session'],
  ])('%s is the address that requests are sent below', async (below, sent) => {
    const { calls, client } = answering('unavailable', 404)
    await errorOf(createClient({ url: below, fetch: client }).session())
    expect(calls.map(String)).toEqual([sent])
  })
})

it('the end of each request is told, also of one that is sent again', async () => {
  const ends: unknown[] = []
  let calls = 0
  const client: typeof fetch = () => {
    calls += 1
    if (calls === 1) return Promise.reject(new TypeError('lost'))
    if (calls === 2) return Promise.resolve(Response.json({ code: 'unavailable' }, { status: 503 }))
    return Promise.resolve(Response.json({ user_id: 'ann' }))
  }
  const onRequestEnd = (error?: CloudRepositoryError): void => void ends.push(error?.code)
  const options = { url, retry: IMPATIENT, fetch: client, onRequestEnd }
  await createClient(options).session()
  expect(ends).toEqual(['connection_lost', 'unavailable', undefined])
  await errorOf(createClient(options).session({ signal: AbortSignal.abort() }))
  expect(ends).toHaveLength(3)
})

it('a wait ends when the browser is online again', { timeout: 10_000 }, async () => {
  const page = new EventTarget()
  vi.stubGlobal('navigator', { onLine: false })
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  let calls = 0
  const client: typeof fetch = () => {
    calls += 1
    if (calls > 1) return Promise.resolve(Response.json({ user_id: 'ann' }))
    setTimeout(() => page.dispatchEvent(new Event('online')), 20)
    return Promise.reject(new TypeError('lost'))
  }
  const retry = { firstDelay: 30_000 }
  expect(await createClient({ url, retry, fetch: client }).session()).toEqual({ user_id: 'ann' })
})

describe('the token function', () => {
  it('does not hold up an abort', async () => {
    const stop = new AbortController()
    const token = () => {
      setImmediate(() => stop.abort(new RangeError('enough')))
      return new Promise<string>(() => undefined)
    }
    const client = createClient({ url, token })
    expect(await errorOf(client.capacity({ signal: stop.signal }))).toEqual(
      new RangeError('enough'),
    )
  })

  it('can abort a request of a page before it is sent', async () => {
    const sent = stubXhr()
    const stop = new AbortController()
    const token = () => {
      stop.abort(new RangeError('enough'))
      return Promise.resolve('crt_')
    }
    const { files } = createClient({ url, token })
    const upload = files.upload('a', new Blob(['a']), { signal: stop.signal })
    expect(await errorOf(upload)).toEqual(new RangeError('enough'))
    expect(sent).toEqual([])
  })
})

it('a file that has changed since the page took it cannot be read, and is no lost connection', async () => {
  const sent = stubXhr()
  const path = join(await temporaryFolder(opened), 'film.mov')
  await writeFile(path, 'before')
  const blob = await openAsBlob(path)
  await writeFile(path, 'changed since')
  const { files } = createClient({ url, retry: IMPATIENT })
  expect(await errorOf(files.upload('a', blob))).toMatchObject({ name: 'NotReadableError' })
  expect(sent).toHaveLength(1)
})

it.each([
  ['webhook_failed', 502],
  ['unavailable', 503],
])('a webhook is not sent again after %s', async (code, status) => {
  const { url: at, calls, client } = answering(code, status)
  const admin = createAdminClient({ url: at, token: 'x', retry: IMPATIENT, fetch: client })
  expect(await errorOf(admin.webhooks.retry('msg_1'))).toMatchObject({ code })
  expect(calls).toHaveLength(1)
})

it('a wait is never longer than maxWait', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.999)
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const { url: at, client } = answering('unavailable', 503)
  const retry = { tries: 3, firstDelay: 40, maxWait: 0.05 }
  await errorOf(createClient({ url: at, retry, fetch: client }).capacity())
  const waits = timers.mock.calls.map(([, ms]) => ms).filter((ms = 0) => ms < 1000)
  vi.restoreAllMocks()
  expect(waits).toEqual([50, 50])
})

it('a failure that the caller finds not worth a retry is not sent again', async () => {
  const { url: at, calls, client } = answering('internal_error', 500)
  const retry = { ...IMPATIENT, when: ({ status = 0 }: CloudRepositoryError) => status !== 500 }
  await errorOf(createClient({ url: at, retry, fetch: client }).capacity())
  expect(calls).toHaveLength(1)
})

it('another status of a proxy, such as 520, is temporary too', async () => {
  const { url: at, calls, client } = answering(undefined, 520)
  await errorOf(createClient({ url: at, retry: IMPATIENT, fetch: client }).capacity())
  expect(calls).toHaveLength(5)
})

it('a cancellation does not succeed if the upload is stored in the meantime', async () => {
  const calls: unknown[] = []
  const client: typeof fetch = () => {
    calls.push(0)
    if (calls.length === 1) return Promise.reject(new TypeError('lost'))
    const problem = { code: 'upload_gone', status: 410, outcome: 'finished' }
    return Promise.resolve(Response.json(problem, { status: 410 }))
  }
  const { uploads } = createClient({ url, retry: IMPATIENT, fetch: client })
  expect(await errorOf(uploads.cancel('u1'))).toMatchObject({ code: 'upload_gone' })
})

/** A service that always answers in this way. */
function answering(code: string | undefined, status: number) {
  const calls: unknown[] = []
  const client: typeof fetch = (input) => {
    calls.push(input)
    return Promise.resolve(
      code === undefined ? new Response('', { status }) : Response.json({ code }, { status }),
    )
  }
  return { url, calls, client }
}

/** Requests of a page, all of which fail as they do when the connection or the file is lost. */
function stubXhr(): readonly unknown[] {
  const sent: unknown[] = []
  class Failing extends EventTarget {
    readonly upload = new EventTarget()
    open(): void {
      // Nothing to open.
    }
    setRequestHeader(): void {
      // Nothing to send.
    }
    send(body: unknown): void {
      sent.push(body)
      queueMicrotask(() => this.dispatchEvent(new Event('error')))
    }
  }
  vi.stubGlobal('XMLHttpRequest', Failing)
  return sent
}
