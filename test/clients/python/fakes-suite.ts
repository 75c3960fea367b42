import { describe, expect, it } from 'vitest'
import type { PythonFixture } from './fixture.ts'

/** Responses that only a fake service or a proxy gives. */
export function fakesSuite(get: () => PythonFixture): void {
  const errorOf = (program: string) => get().session.errorOf(program)
  const run = (program: string) => get().session.run(program)
  const asked = () => run('return kept.asked') as Promise<string[]>

  describe('a response of a proxy', () => {
    it('has the code unexpected_response, and is retried if it is temporary', async () => {
      const program = `
        statuses = [502, 504, 418]
        client = fake(lambda request: httpx.Response(statuses.pop(0), content=b"<html>"))
        await client.capacity()`
      expect(await errorOf(program)).toMatchObject({ code: 'unexpected_response', status: 418 })
    })

    it.each([
      'capacity()',
      'files.delete("a")',
      'files.get("a")',
      'files.upload("a", b"a")',
      'files.download("a")',
    ])('is no success of %s', async (call) => {
      const program = `await fake(lambda request: httpx.Response(200, content=b"<html>")).${call}`
      expect(await errorOf(program)).toMatchObject({ code: 'unexpected_response', status: 200 })
    })

    it.each(['POST', 'PATCH', 'HEAD'])(
      'has no effect that it is believed to have: %s',
      async (of) => {
        const program = `
        answers = {"POST": created, "PATCH": lost, "HEAD": lambda _: offset(200, 0)}
        answers["${of}"] = lambda _: httpx.Response(200, content=b"<html>")
        await fake_uploads(**answers).files.upload("film", bytes(9 * 2**20))`
        expect(await errorOf(program)).toMatchObject({ code: 'unexpected_response', status: 200 })
      },
    )
  })

  it('the reason of a refusal is asked for again if it is lost', async () => {
    const program = `
        refused = httpx.Response(412, json={"code": "precondition_failed", "detail": "no"})
        client = fake_uploads(
            POST=created,
            HEAD=lambda _: httpx.Response(412),
            PATCH=lambda appends: refused if appends == 3 else lost(),
            DELETE=lambda _: httpx.Response(204),
        )
        await client.files.upload("film", bytes(9 * 2**20), if_none_match="*")`
    expect(await errorOf(program)).toMatchObject({ code: 'precondition_failed' })
    const methods = await asked()
    expect(methods.filter((method) => method === 'POST')).toHaveLength(1)
    // No later append can succeed.
    expect(methods.at(-1)).toBe('DELETE')
  })

  it.each([
    ['finished', 1],
    ['lost', 2],
  ])('an upload that has ended as %s is created %i times', async (outcome, creations) => {
    const program = `
        gone = httpx.Response(410, json={"code": "upload_gone", "detail": "no", "outcome": "${outcome}"})
        refused = httpx.Response(403, json={"code": "capacity_exceeded", "detail": "no"})
        client = fake_uploads(
            POST=created,
            PATCH=lambda appends: httpx.Response(410) if appends == 1 else refused,
            GET=lambda _: gone,
        )
        await client.files.upload("film", bytes(9 * 2**20))`
    const code = outcome === 'finished' ? 'upload_superseded' : 'capacity_exceeded'
    expect(await errorOf(program)).toMatchObject({ code })
    expect((await asked()).filter((method) => method === 'POST')).toHaveLength(creations)
  })

  it('an upload that is replaced as soon as it is stored says so', async () => {
    const program = `
        client = fake_uploads(
            POST=created,
            PATCH=lambda _: offset(204, 9 * 2**20),
            GET=lambda _: httpx.Response(200, json={"upload_id": "u1", "file": None}),
        )
        await client.files.upload("film", bytes(9 * 2**20))`
    expect(await errorOf(program)).toMatchObject({ code: 'upload_superseded' })
  })

  it('the reason of a refusal is asked for without content if it was lost while content was sent', async () => {
    const program = `
        refused = httpx.Response(403, json={"code": "capacity_exceeded", "detail": "no"})
        client = fake_uploads(
            POST=created,
            HEAD=lambda _: offset(200, 0),
            PATCH=lambda _: refused if kept.sizes[-1] == 0 else lost(),
        )
        await client.files.upload("film", bytes(9 * 2**20))`
    expect(await errorOf(program)).toMatchObject({ code: 'capacity_exceeded', status: 403 })
  })

  it('a service that does not answer after it has stored the file is not sent the content again', async () => {
    const program = `
      import re
      kept.appends = 0
      def patched(request):
          kept.appends += request.method == "PATCH"
          if request.method == "GET" and re.search("uploads/.", request.url.path):
              raise httpx.ReadError("lost")
      async def hook(request):
          patched(request)
      client = connect(http=(httpx.AsyncClient if is_async else httpx.Client)(event_hooks={"request": [hook]}))
      try:
          await client.files.upload("stored", bytes(9 * 2**20), if_none_match="*")
      except CloudRepositoryError as error:
          return [error.code, kept.appends, (await direct.files.get("stored"))["sha256"] == sha256(bytes(9 * 2**20))]`
    expect(await run(program)).toEqual(['connection_lost', 1, true])
  })

  it('content that does not have its digest is refused: received, sent, and stored', async () => {
    const rotten = `
      def rot(request):
          headers = {"content-length": "6", "etag": '"e"', "repr-digest": "${REPR_DIGEST}"}
          return httpx.Response(200, stream=httpx.ByteStream(b"rotten"), headers=headers)
      await (await fake(rot).files.download("a")).read()`
    expect(await errorOf(rotten)).toMatchObject({ code: 'digest_mismatch' })
    const wrong = `
      content = io.BytesIO(b"a")
      await client.files.upload("a", content, on_progress=lambda *_: content.seek(0) or content.write(b"b"))`
    expect(await errorOf(wrong)).toMatchObject({ code: 'digest_mismatch', status: 400 })
    const stored = `await fake(lambda request: httpx.Response(200, json={"sha256": "0"})).files.upload("a", b"a")`
    expect(await errorOf(stored)).toMatchObject({ code: 'digest_mismatch', status: null })
  })
}

/** SHA-256 of nothing. */
const REPR_DIGEST = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'
