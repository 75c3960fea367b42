import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Client, createClient, isProblem } from '../../../packages/js/src/client.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import { secretOf } from '../../http/fixture.ts'
import {
  bytesOf,
  createContent,
  digestOf,
  errorOf,
  IMPATIENT,
  openPackage,
  type PackageFixture,
  streamOf,
} from './fixture.ts'

const opened = new AsyncDisposableStack()
let fixture: PackageFixture
let client: Client
beforeAll(async () => {
  fixture = await openPackage(opened, { historyLifetimeMs: 3_600_000 })
  ;({ client } = fixture)
})
afterAll(() => opened.disposeAsync())
beforeEach(() => {
  fixture.network.mishaps.length = 0
  fixture.network.requests.length = 0
})

describe('a request', () => {
  it('is sent again after 503, 429 and a lost connection, not before Retry-After', async () => {
    const { bytes, sha256 } = createContent(100_000)
    fixture.network.mishaps.push({ status: 503, retryAfter: 1 }, 'lost', {
      status: 429,
      retryAfter: 0,
    })
    expect(await client.files.upload('a', bytes)).toMatchObject({ sha256 })
    const [first = 0, second = 0, ...more] = fixture.network.requests.map(({ at }) => at)
    expect(second - first).toBeGreaterThan(990)
    expect(more).toHaveLength(2)
  })

  it.each([
    ['shortest', 0, [20, 40, 80]],
    ['longest', 0.999, [59, 119, 239]],
  ])('waits longer before each retry, at a random time: at the %s', async (_, chance, least) => {
    vi.spyOn(Math, 'random').mockReturnValue(chance)
    fixture.network.mishaps.push('lost', 'lost', 'lost')
    const { url } = fixture.network
    const retry = { firstDelay: 40 }
    await createClient({ url, token: secretOf(fixture.user), retry }).capacity()
    vi.restoreAllMocks()
    const times = fixture.network.requests.map(({ at }) => at)
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan((least[index] ?? 0) - 2)
    }
  })

  it('is given up after five tries, with the last error', async () => {
    fixture.network.mishaps.push(
      ...Array.from({ length: 9 }, () => ({ status: 503, retryAfter: 0 }) as const),
    )
    expect(await errorOf(client.capacity())).toMatchObject({ code: 'unavailable', status: 503 })
    expect(fixture.network.requests).toHaveLength(5)
  })

  it('is given up at once if the service asks for more than a minute', async () => {
    fixture.network.mishaps.push({ status: 429, retryAfter: 61 })
    const error = await errorOf(client.capacity())
    if (!isProblem(error, 'too_many_requests')) throw error
    expect(error.retryAfter).toBe(61)
    expect(fixture.network.requests).toHaveLength(1)
  })

  it('is not sent again after a refusal', async () => {
    expect(await errorOf(client.files.get('none'))).toMatchObject({ code: 'not_found' })
    expect(await errorOf(client.files.list({ limit: 0 })[Symbol.asyncIterator]().next())).toEqual(
      expect.objectContaining({
        code: 'invalid_parameter',
        problem: expect.objectContaining({ parameter: 'limit' }) as unknown,
      }),
    )
    expect(fixture.network.requests).toHaveLength(2)
  })

  it('ends with connection_lost if nobody answers, and with the reason of the signal in a wait', async () => {
    const nobody = createClient({ url: 'http://127.0.0.1:2', retry: { ...IMPATIENT, tries: 2 } })
    expect(await errorOf(nobody.capacity())).toMatchObject({ code: 'connection_lost' })
    const stop = new AbortController()
    fixture.network.mishaps.push({ status: 503, retryAfter: 30 })
    const waiting = errorOf(client.capacity({ signal: stop.signal }))
    await expect.poll(() => fixture.network.requests.length).toBe(1)
    stop.abort(new RangeError('enough'))
    expect(await waiting).toEqual(new RangeError('enough'))
  })
})

describe('after a lost response', () => {
  const { bytes, sha256 } = createContent(50_000)

  it.each([
    ['bytes', () => bytes],
    ['a stream', () => streamOf(bytes)],
  ])('a conditional upload of %s that took effect succeeds', async (kind, contentOf) => {
    fixture.network.mishaps.push('unanswered')
    const created = await client.files.upload(`new ${kind}`, contentOf(), { ifNoneMatch: '*' })
    expect(created).toMatchObject({ sha256 })
    fixture.network.mishaps.push('unanswered')
    const other = createContent(50)
    const { etag: ifMatch } = created
    const replaced = await client.files.upload(`new ${kind}`, other.bytes, { ifMatch })
    expect(replaced).toMatchObject({ sha256: other.sha256 })
  })

  it('a conditional upload that lost to another one is refused', async () => {
    const { etag: ifMatch } = await client.files.upload('contended', bytes)
    await client.files.upload('contended', Buffer.from('the other one'))
    fixture.network.mishaps.push('unanswered')
    const error = await errorOf(client.files.upload('contended', Buffer.from('mine'), { ifMatch }))
    expect(error).toMatchObject({ code: 'precondition_failed' })
  })

  it('a stream in one request is not repeated', async () => {
    fixture.network.mishaps.push('lost')
    const upload = client.files.upload('once', streamOf(bytes), { resume: false })
    expect(await errorOf(upload)).toMatchObject({ code: 'connection_lost' })
    expect(fixture.network.requests).toHaveLength(1)
  })

  it('a delete succeeds', async () => {
    await client.files.upload('gone', bytes)
    fixture.network.mishaps.push('unanswered')
    await client.files.delete('gone')
    expect(await errorOf(client.files.get('gone'))).toMatchObject({ code: 'not_found' })
  })

  it('a conditional upload is not refused if the file cannot be read to compare it', async () => {
    const lost = Array.from({ length: 5 }, () => 'lost' as const)
    fixture.network.mishaps.push('unanswered', { cutAfter: Infinity }, ...lost)
    const upload = client.files.upload('unseen', bytes, { ifNoneMatch: '*' })
    expect(await errorOf(upload)).toMatchObject({ code: 'connection_lost' })
  })

  it('a rename or a restore whose file is elsewhere by now has an unknown outcome', async () => {
    const { version } = await client.files.upload('moved', bytes)
    const unknown = { code: 'outcome_unknown' }
    fixture.network.mishaps.push('unanswered', {
      cutAfter: 0,
      meanwhile: () => client.files.delete('away'),
    })
    expect(await errorOf(client.files.rename('moved', 'away'))).toMatchObject(unknown)
    fixture.network.mishaps.push('unanswered', {
      cutAfter: 0,
      meanwhile: () => client.files.rename('back', 'elsewhere'),
    })
    const restore = client.history.restore(version, { name: 'back' })
    expect(await errorOf(restore)).toMatchObject(unknown)
  })

  it('a rename is resolved by its etag, or has an unknown outcome', async () => {
    const { etag: ifMatch } = await client.files.upload('before', bytes)
    fixture.network.mishaps.push('unanswered')
    const renamed = await client.files.rename('before', 'after', { ifMatch })
    expect(renamed).toMatchObject({ name: 'after', etag: ifMatch })
    fixture.network.mishaps.push('unanswered')
    expect(await errorOf(client.files.rename('after', 'before'))).toMatchObject({
      code: 'outcome_unknown',
    })
    expect(await client.files.get('before')).toMatchObject({ etag: ifMatch })
  })

  it('a restore is resolved by its version, or has an unknown outcome', async () => {
    const { version } = await client.files.upload('restored', bytes)
    await client.files.delete('restored')
    fixture.network.mishaps.push('unanswered')
    expect(await client.history.restore(version, { name: 'restored' })).toMatchObject({ version })
    await client.files.delete('restored')
    fixture.network.mishaps.push('unanswered')
    expect(await errorOf(client.history.restore(version))).toMatchObject({
      code: 'outcome_unknown',
    })
    expect(await client.files.get('restored')).toMatchObject({ version })
  })

  it('a batch is not sent a second time, but after 429', async () => {
    await client.files.upload('one', bytes)
    const swap = [
      { op: 'rename', name: 'one', new_name: 'spare' },
      { op: 'rename', name: 'spare', new_name: 'two' },
      { op: 'restore', version: createVersion(), ignore_missing: true },
    ] as const
    fixture.network.mishaps.push({ status: 429, retryAfter: 0 }, 'unanswered')
    const lost = { code: 'connection_lost' }
    expect(await errorOf(client.files.batch(swap))).toMatchObject(lost)
    expect(await client.files.get('two')).toMatchObject({ size: bytes.length })
    const error = await errorOf(client.files.batch([{ op: 'delete', name: 'two' }, ...swap]))
    expect(error).toMatchObject({ code: 'not_found', problem: { operation: 1 } })
    const [result] = (await client.files.batch([{ op: 'delete', name: 'two' }])).results
    expect(result).toEqual({ op: 'delete', name: 'two', file: null })
  })

  it('nothing is created a second time, but after 429', async () => {
    fixture.network.mishaps.push({ status: 429, retryAfter: 0 })
    const { token_id: tokenId } = await client.tokens.create({ label: 'one' })
    fixture.network.mishaps.push('unanswered')
    expect(await errorOf(client.tokens.create({ label: 'two' }))).toMatchObject({
      code: 'connection_lost',
    })
    fixture.network.mishaps.push('unanswered')
    const terms = { kind: 'download', prefix: '' } as const
    expect(await errorOf(client.links.create(terms))).toMatchObject({ code: 'connection_lost' })
    const labels = (await Array.fromAsync(client.tokens.list())).map(({ label }) => label)
    expect(labels.filter((label) => label === 'two')).toHaveLength(1)
    expect(await Array.fromAsync(client.links.list())).toHaveLength(1)
    await client.tokens.revoke(tokenId)
  })
})

describe('a download', () => {
  const { bytes, sha256 } = createContent(3_000_000)

  it('continues where it was cut, as often as that happens', async () => {
    await client.files.upload('cut', bytes)
    const cuts = Array.from({ length: 12 }, () => ({ cutAfter: 200_000 }))
    fixture.network.requests.length = 0
    fixture.network.mishaps.push(...cuts.slice(0, 6), 'lost', ...cuts.slice(6))
    const { stream, size, sha256: told } = await client.files.download('cut')
    expect({ size, told }).toEqual({ size: bytes.length, told: sha256 })
    expect(digestOf(await bytesOf(stream))).toBe(sha256)
    const ranges = fixture.network.requests.map(({ headers }) => headers.range)
    expect(ranges.slice(0, 3)).toEqual([undefined, 'bytes=200000-', 'bytes=400000-'])
    expect(fixture.network.requests).toHaveLength(14)
  })

  it('a download of a range has its bytes, also when it is cut', async () => {
    await client.files.upload('range', bytes)
    const rangeOf = (start: number, end?: number) =>
      client.files.download('range', { range: { start, ...(end !== undefined && { end }) } })
    fixture.network.mishaps.push({ cutAfter: 1000 }, { cutAfter: 500 })
    const part = await rangeOf(100, 5000)
    expect(part).toMatchObject({ size: 4900, fileSize: bytes.length })
    expect(Buffer.from(await bytesOf(part.stream)).equals(bytes.subarray(100, 5000))).toBe(true)
    const rest = await rangeOf(bytes.length - 10)
    expect(Buffer.from(await bytesOf(rest.stream)).equals(bytes.subarray(-10))).toBe(true)
    const beyond = await errorOf(rangeOf(bytes.length))
    expect(isProblem(beyond, 'range_not_satisfiable') && beyond.problem.size).toBe(bytes.length)
  })

  it.each([
    ['replaced', () => client.files.upload('changing', Buffer.from('new'))],
    ['deleted', () => client.files.delete('changing')],
  ])('never mixes two versions: it fails if the file is %s', async (_, change) => {
    await client.files.upload('changing', bytes)
    fixture.network.mishaps.push({ cutAfter: 100_000, meanwhile: change })
    const { stream } = await client.files.download('changing')
    expect(await errorOf(bytesOf(stream))).toMatchObject({ code: 'file_changed' })
  })

  it('fails if the content does not have the digest of the file', async () => {
    const { version } = await client.files.upload('rotten', bytes)
    const url = fixture.network.url
    const rotting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (response.headers.get('content-length') !== String(bytes.length)) return response
      const content = new Uint8Array(await response.arrayBuffer())
      content[1000] = (content[1000] ?? 0) ^ 1
      return new Response(content, response)
    }
    const unlucky = createClient({ url, token: secretOf(fixture.user), fetch: rotting })
    const { stream, etag } = await unlucky.files.download('rotten')
    expect(etag).toBe(version)
    const error = await errorOf(bytesOf(stream))
    expect(error).toMatchObject({ code: 'digest_mismatch' })
    expect(isProblem(error, 'digest_mismatch') && error.problem.sha256).toMatch(/^[0-9a-f]{64}$/)
  })

  it('ends with its signal, and with its stream', async () => {
    await client.files.upload('long', bytes)
    const stop = new AbortController()
    const { stream } = await client.files.download('long', { signal: stop.signal })
    const reader = stream.getReader()
    await reader.read()
    stop.abort(new RangeError('enough'))
    const rest = (async () => {
      while (!(await reader.read()).done);
    })()
    expect(await errorOf(rest)).toEqual(new RangeError('enough'))
    const cancelled = await client.files.download('long')
    await cancelled.stream.cancel()
  })

  it('a download of empty content ends', async () => {
    await client.files.upload('nothing', new Uint8Array(0))
    expect(await bytesOf((await client.files.download('nothing')).stream)).toHaveLength(0)
  })
})

describe('a response of a proxy', () => {
  it('has the code unexpected_response, and is retried if it is temporary', async () => {
    const statuses = [502, 504, 418]
    const proxied: typeof fetch = async (input, init) => {
      const status = statuses.shift()
      return status === undefined ? fetch(input, init) : new Response('<html>', { status })
    }
    const { url } = fixture.network
    const one = createClient({
      url,
      token: secretOf(fixture.user),
      fetch: proxied,
      retry: IMPATIENT,
    })
    expect(await errorOf(one.capacity())).toMatchObject({
      code: 'unexpected_response',
      status: 418,
    })
    expect(statuses).toEqual([])
    expect(await one.capacity()).toMatchObject({ user_id: fixture.user.userId })
    const html: typeof fetch = () => Promise.resolve(new Response('<html>'))
    const captive = createClient({ url, fetch: html })
    expect(await errorOf(captive.capacity())).toMatchObject({ code: 'unexpected_response' })
  })
})
