import { beforeEach, describe, expect, it } from 'vitest'
import { remove } from '../../http/file-requests.ts'
import { upload } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import type { PythonFixture } from './fixture.ts'
import type { PythonSession } from './installed-package.ts'

/** What lost connections and temporary failures do to requests. */
export function faultsSuite(get: () => PythonFixture): void {
  let network: HttpProxy
  let session: PythonSession
  beforeEach(() => {
    ;({ network, session } = get())
    network.mishaps.length = 0
    network.requests.length = 0
  })

  describe('a request', () => {
    it('is sent again after 503, 429 and a lost connection, not before Retry-After', async () => {
      network.mishaps.push({ status: 503, retryAfter: 1 }, 'lost', { status: 429, retryAfter: 0 })
      await session.run('return await client.files.upload("a", b"a" * 100_000)')
      const [first = 0, second = 0, ...more] = network.requests.map(({ at }) => at)
      expect(second - first).toBeGreaterThan(990)
      expect(more).toHaveLength(2)
    })

    it('is given up after five tries, and at once if the service asks for more than a minute', async () => {
      network.mishaps.push(
        ...Array.from({ length: 5 }, () => ({ status: 503, retryAfter: 0 }) as const),
      )
      expect(await session.errorOf('await client.capacity()')).toMatchObject({
        code: 'unavailable',
        status: 503,
      })
      expect(network.requests).toHaveLength(5)
      network.mishaps.push({ status: 429, retryAfter: 61 })
      expect(await session.errorOf('await client.capacity()')).toMatchObject({
        code: 'too_many_requests',
        retry_after: 61,
      })
      expect(network.requests).toHaveLength(6)
    })

    it('waits longer before each retry, at random', async () => {
      network.mishaps.push('lost', 'lost', 'lost')
      await session.run('await connect(retry=Retry(first_delay=0.04)).capacity()')
      const times = network.requests.map(({ at }) => at)
      const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
      for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThan(20 * 2 ** index - 2)
    })

    it('is not sent again after a refusal, whose members the error has', async () => {
      expect(
        await session.errorOf('return [f async for f in client.files.list(limit=0)]'),
      ).toMatchObject({
        code: 'invalid_parameter',
        status: 400,
        problem: { parameter: 'limit', request_id: expect.any(String) as unknown },
      })
      expect(network.requests).toHaveLength(1)
    })

    it('ends with connection_lost if nobody answers', async () => {
      const program = 'await connect("http://127.0.0.1:2").capacity()'
      expect(await session.errorOf(program)).toMatchObject({
        code: 'connection_lost',
        status: null,
      })
    })
  })

  describe('after a lost response', () => {
    it.each(['b"a" * 50_000', 'chunked(b"a" * 50_000)'])(
      'a conditional upload of %s that took effect succeeds',
      async (content) => {
        network.mishaps.push('unanswered')
        const [etag, digest] = (await session.run(`
          try:
              await direct.files.delete("new")
          except CloudRepositoryError:
              pass
          file = await client.files.upload("new", ${content}, if_none_match="*")
          return file["etag"], file["sha256"]`)) as [string, string]
        expect(digest).toMatch(/^[0-9a-f]{64}$/)
        network.mishaps.push('unanswered')
        await session.run(`await client.files.upload("new", b"other", if_match="${etag}")`)
        expect(network.requests).toHaveLength(6)
      },
    )

    it('a conditional upload that lost to another one is refused', async () => {
      const etag = await session.run(
        'return (await client.files.upload("contended", b"1"))["etag"]',
      )
      await session.run('await client.files.upload("contended", b"the other one")')
      network.mishaps.push('unanswered')
      const program = `await client.files.upload("contended", b"mine", if_match="${String(etag)}")`
      expect(await session.errorOf(program)).toMatchObject({ code: 'precondition_failed' })
    })

    it('a conditional upload is not refused if the file cannot be read to compare it', async () => {
      const lost = Array.from({ length: 5 }, () => 'lost' as const)
      network.mishaps.push('unanswered', { cutAfter: Infinity }, ...lost)
      const program = 'await client.files.upload("unseen", b"1", if_none_match="*")'
      expect(await session.errorOf(program)).toMatchObject({ code: 'connection_lost' })
    })

    it('a delete succeeds', async () => {
      await session.run('await client.files.upload("gone", b"1")')
      network.mishaps.push('unanswered')
      await session.run('await client.files.delete("gone")')
      expect(await session.errorOf('await client.files.get("gone")')).toMatchObject({
        code: 'not_found',
      })
    })

    it('a rename is resolved by its etag, or has an unknown outcome', async () => {
      const etag = await session.run('return (await client.files.upload("before", b"1"))["etag"]')
      network.mishaps.push('unanswered')
      const program = `return (await client.files.rename("before", "after", if_match="${String(etag)}"))["name"]`
      expect(await session.run(program)).toBe('after')
      network.mishaps.push('unanswered')
      expect(await session.errorOf('await client.files.rename("after", "before")')).toMatchObject({
        code: 'outcome_unknown',
      })
      expect(await session.run('return (await client.files.get("before"))["etag"]')).toBe(etag)
    })

    it('nothing is created a second time, but after 429', async () => {
      network.mishaps.push({ status: 429, retryAfter: 0 })
      const create = (label: string) => `await client.tokens.create({"label": "${label}"})`
      await session.run(create('one'))
      network.mishaps.push('unanswered')
      expect(await session.errorOf(create('two'))).toMatchObject({ code: 'connection_lost' })
      const program = `
        return [token["label"] async for token in client.tokens.list() if token["label"] in ("one", "two")]`
      expect(await session.run(program)).toEqual(['one', 'two'])
    })
  })

  describe('a download', () => {
    it('continues where it was cut, as often as that happens', async () => {
      await session.run(
        'kept.bytes = os.urandom(3_000_000); await client.files.upload("cut", kept.bytes)',
      )
      network.requests.length = 0
      const cuts = Array.from({ length: 12 }, () => ({ cutAfter: 200_000 }))
      network.mishaps.push(...cuts.slice(0, 6), 'lost', ...cuts.slice(6))
      const program = `
        download = await client.files.download("cut")
        assert (download.size, download.sha256) == (3_000_000, sha256(kept.bytes))
        return await download.read() == kept.bytes`
      expect(await session.run(program)).toBe(true)
      const ranges = network.requests.map(({ headers }) => headers.range)
      expect(ranges.slice(0, 3)).toEqual([undefined, 'bytes=200000-', 'bytes=400000-'])
      expect(network.requests).toHaveLength(14)
    })

    it('a download of a range has its bytes, also when it is cut', async () => {
      network.mishaps.push({ cutAfter: 1000 }, { cutAfter: 500 })
      const program = `
        await direct.files.upload("range", kept.bytes)
        part = await client.files.download("range", start=100, end=5000)
        assert (part.size, part.file_size) == (4900, 3_000_000)
        rest = await client.files.download("range", start=2_999_990)
        return [await part.read() == kept.bytes[100:5000], await rest.read() == kept.bytes[-10:]]`
      expect(await session.run(program)).toEqual([true, true])
      const beyond = await session.errorOf('await client.files.download("range", start=3_000_000)')
      expect(beyond).toMatchObject({ code: 'range_not_satisfiable', problem: { size: 3_000_000 } })
      expect(
        await session.errorOf('await client.files.download("range", start=5, end=5)'),
      ).toMatchObject({
        code: 'ValueError',
      })
    })

    it.each(['replaced', 'deleted'])(
      'never mixes two versions: it fails if the file is %s, and leaves the target as it was',
      async (kind) => {
        const { service, user } = get()
        const name = 'changing'
        const change = () =>
          kind === 'deleted' ? remove(service, { user, name }) : upload(service, { user, name })
        await session.run('await client.files.upload("changing", kept.bytes)')
        await session.run('Path("target").write_bytes(b"old")')
        network.mishaps.push({ cutAfter: 100_000, meanwhile: change })
        const error = await session.errorOf('await client.files.download("changing", "target")')
        expect(error).toMatchObject({ code: 'file_changed' })
        const files =
          'return [Path("target").read_text(), [p.name for p in Path().glob("target*")]]'
        expect(await session.run(files)).toEqual(['old', ['target']])
      },
    )

    it('a download of empty content ends', async () => {
      const program = `
        await client.files.upload("nothing", b"")
        return len(await (await client.files.download("nothing")).read())`
      expect(await session.run(program)).toBe(0)
    })
  })
}
