import { beforeEach, describe, expect, it } from 'vitest'
import type { PythonFixture } from './fixture.ts'
import type { PythonSession } from './installed-package.ts'

/** Each verb against the service. */
export function resourcesSuite(get: () => PythonFixture): void {
  let session: PythonSession
  beforeEach(() => {
    ;({ session } = get())
  })

  describe('the verbs', () => {
    it('share names of any kind, list them in pages, and refuse what is no name', async () => {
      const names = ['%41', '100%', '?a=b#c', 'a+b', 'e\u0301 ü', '..a', '日本']
      const program = `
        for name in ${JSON.stringify(names)}:
            await direct.files.upload("n " + name, b"1")
            assert (await direct.files.get("n " + name))["name"] == "n " + name
        pages = [page async for page in direct.files.list(prefix="n ", limit=3).pages()]
        assert [len(page["files"]) for page in pages] == [3, 3, 1]
        listing = direct.files.list(prefix="n ", limit=2, order="-name")
        twice = [[file["name"][2:] async for file in listing]]
        twice.append([file["name"][2:] async for file in listing])
        assert twice[0] == twice[1]
        return twice[0]`
      expect(((await session.run(program)) as string[]).toSorted()).toEqual(names.toSorted())
      for (const name of ['', '.', '..', '\\udc00'])
        expect(
          await session.errorOf(`await direct.files.upload("${name}", Path("none"))`),
        ).toMatchObject({
          code: 'invalid_file_name',
        })
    })

    it('upload with conditions, visibility, expiry, eviction and a digest', async () => {
      const program = `
        file = await direct.files.upload(
            "terms", b"1", visibility="public", expires_in=3600, evict="none-", digest=True, if_none_match="*")
        assert file["visibility"] == "public" and file["expires_at"] and not file["replaced"]
        assert file["evicted"] == {"files": 0, "bytes": 0}
        etag = file["etag"]
        file = await direct.files.update("terms", keep=True, expires_at=None, visibility="users", if_match=etag)
        assert (file["keep"], file["expires_at"], file["visibility"]) == (True, None, "users")
        from datetime import datetime, timedelta, timezone
        ends = datetime.now(timezone(timedelta(hours=5))) + timedelta(days=1)
        file = await direct.files.update("terms", expires_at=ends)
        assert datetime.fromisoformat(file["expires_at"].replace("Z", "+00:00")) - ends < timedelta(seconds=1)
        return file["keep"]`
      expect(await session.run(program)).toBe(true)
    })

    it('refuse content that is none, and pass on what it raises', async () => {
      expect(await session.errorOf('await direct.files.upload("a", "text")')).toMatchObject({
        code: 'TypeError',
      })
      expect(await session.errorOf('await direct.files.upload("a", Path("none"))')).toMatchObject({
        code: 'FileNotFoundError',
      })
      const raising = `
        def chunks():
            yield bytes(9 * 2**20)
            raise KeyError("own")
        await direct.files.upload("raising", chunks())`
      expect(await session.errorOf(raising)).toMatchObject({ code: 'KeyError' })
      const progress = `await direct.files.upload("a", bytes(9 * 2**20), on_progress=lambda sent, total: 1 / 0)`
      expect(await session.errorOf(progress)).toMatchObject({ code: 'ZeroDivisionError' })
      // What nothing can continue is cancelled.
      expect(
        await session.run('return [upload async for upload in direct.uploads.list()]'),
      ).toEqual([])
    })

    it('upload a file from where it is, and the rest of a pipe', async () => {
      const program = `
        content = io.BytesIO(b"head" + bytes(9 * 2**20))
        content.seek(4)
        large = await direct.files.upload("large", content)
        reading, writing = os.pipe()
        os.write(writing, b"piped")
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            piped = await direct.files.upload("pipe", pipe)
        sink = io.BytesIO()
        await direct.files.download("pipe", sink)
        empty = await direct.files.upload("empty", iter([]))
        return [large["sha256"] == sha256(bytes(9 * 2**20)), piped["size"], sink.getvalue().decode(), empty["size"]]`
      expect(await session.run(program)).toEqual([true, 5, 'piped', 0])
    })

    it('restore and purge the history', async () => {
      const program = `
        first = await direct.files.upload("versions", b"first")
        await direct.files.upload("versions", b"second")
        past = [version async for version in direct.history.list(name="versions")]
        content = await (await direct.history.download(past[0]["version"])).read()
        restored = await direct.history.restore(first["version"], overwrite=True)
        assert restored["etag"] == first["etag"]
        past = [version["version"] async for version in direct.history.list(name="versions")]
        await direct.history.purge(past[0])
        await direct.history.purge_all()
        return [content.decode(), past[0] != first["version"], [v async for v in direct.history.list()]]`
      expect(await session.run(program)).toEqual(['first', true, []])
    })

    it('create, list and revoke links and tokens, and ask for the session and the capacity', async () => {
      const program = `
        link = await direct.links.create("drop", prefix="in-", expires_in=60, max_uses=2, password="p", label="l")
        token = await direct.tokens.create(label="narrow", scope={"actions": ["read"], "prefix": "a"}, expires_in=60)
        narrow = (AsyncClient if is_async else Client)(os.environ["DIRECT"], lambda: token["access_token"])
        scope = (await narrow.session())["scope"]
        try:
            await narrow.files.delete("ab")
        except CloudRepositoryError as error:
            required = error.problem["required"]
        await narrow.aclose() if is_async else narrow.close()
        await direct.links.revoke(link["link_id"])
        await direct.tokens.revoke(token["token_id"])
        assert link["link_id"] not in [one["link_id"] async for one in direct.links.list()]
        assert (await direct.capacity())["state"] == "normal"
        return [scope["actions"], required, link["uses_left"], link["has_password"]]`
      expect(await session.run(program)).toEqual([['read'], 'delete', 2, true])
    })

    it('read public files of others without a token', async () => {
      const { user } = get()
      const program = `
        await direct.files.upload("shared", b"public", visibility="public")
        async with (AsyncClient if is_async else Client)(os.environ["DIRECT"] + "/") as stranger:
            file = await stranger.files.get("shared", user_id="${user.userId}")
            names = [file["name"] async for file in stranger.files.list(user_id="${user.userId}", prefix="shared")]
            download = await stranger.files.download("shared", user_id="${user.userId}")
            return [names, (await download.read()).decode()]`
      expect(await session.run(program)).toEqual([['shared'], 'public'])
    })
  })

  it('a download that is closed, or not read to its end, leaves nothing open', async () => {
    const program = `
      import gc
      await direct.files.upload("long", bytes(3_000_000))
      for _ in range(120):
          await (await direct.files.download("long")).close()
      async for chunk in await direct.files.download("long"):
          break
      gc.collect()
      return len(chunk) > 0`
    expect(await session.run(program)).toBe(true)
  })
}
