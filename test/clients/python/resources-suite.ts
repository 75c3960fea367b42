import { beforeEach, describe, expect, it } from 'vitest'
import { BAD_NAMES } from '../../support/names/bad-names.ts'
import { VALID_NAMES } from '../../support/names/valid-names.ts'
import type { PythonFixture } from './fixture.ts'
import type { PythonSession } from './installed-package.ts'

/** The service refuses each of them (test/http/names). */
const SOME_BAD_NAMES = BAD_NAMES.filter((_, at) => at % 3 === 0).map(({ name }) => name)

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
    })

    it('refuse what is no name before anything is sent', async () => {
      const noIds = ['', '.', '..', '\\udc00']
      const noSegments = noIds.flatMap((id) => [`${id}/a`, `a/${id}/b`, `a/${id}/`])
      const program = (name: string) => `
        for verb in (
            lambda: client.files.upload("${name}", Path("none")),
            lambda: client.files.download("${name}"),
            lambda: client.files.rename("${name}", "a"),
            lambda: client.files.delete("${name}")):
            try:
                await verb()
            except CloudRepositoryError as error:
                assert error.code == "invalid_file_name", error.code
            else:
                raise AssertionError("sent")`
      const before = get().network.requests.length
      for (const name of [...noIds, ...noSegments, 'a/..', 'a/.', '/', '//'])
        expect([name, await session.run(program(name))]).toEqual([name, null])
      const of = `await client.files.get("a", user_id="..")`
      expect(await session.errorOf(of)).toMatchObject({ code: 'invalid_file_name' })
      expect(get().network.requests).toHaveLength(before)
    })

    it('keep files in folders, whose slashes remain in the path', async () => {
      const { network } = get()
      const program = `
        name = "photos/2026 ü/50% a?b#c;=&+'.jpg"
        await client.files.upload(name, b"1")
        assert await (await client.files.download(name)).read() == b"1"
        await direct.files.upload("photos/film.mov", bytes(9 * 2**20))
        await direct.files.upload("photos/%2F/..a", b"1")
        pages = [page async for page in direct.files.list(prefix="photos/", delimiter="/", folder_totals=True).pages()]
        assert pages[0]["folders"][1] == {"prefix": "photos/2026 ü/", "file_count": 1, "size": 1}, pages
        assert pages[0]["prefixes"] == ["photos/%2F/", "photos/2026 ü/"], pages
        assert [file["name"] for file in pages[0]["files"]] == ["photos/film.mov"], pages
        assert [file["name"] async for file in direct.files.list(prefix="photos/", contains="FILM")] == ["photos/film.mov"]
        longest = "n" * 255
        await direct.files.upload("photos/" + longest, b"1")
        await direct.files.download("photos/" + longest, longest)
        os.remove(longest)
        await direct.files.rename("photos/" + longest, "photos/2027/a.jpg", overwrite=True)
        await direct.files.rename(name, "photos/2027/a.jpg", overwrite=True)
        await direct.files.update("photos/2027/a.jpg", keep=True)
        await direct.files.delete("photos/2027/a.jpg")
        return [file["name"] async for file in direct.files.list(prefix="photos/")]`
      const before = network.requests.length
      expect(await session.run(program)).toEqual(['photos/%2F/..a', 'photos/film.mov'])
      const path = '/users/me/repo/photos/2026%20%C3%BC/50%25%20a%3Fb%23c%3B%3D%26%2B%27.jpg'
      expect(network.requests.slice(before).map((met) => met.path)).toEqual([path, path])
    })

    it('keep a folder by a name that ends in a slash, without content', async () => {
      const program = `
        for content in (b"", iter([]), io.BytesIO()):
            file = await direct.files.upload("empty/folder/", content)
            assert (file["name"], file["size"]) == ("empty/folder/", 0)
        assert await (await direct.files.download("empty/folder/")).read() == b""
        assert (await direct.files.get("empty/folder/"))["size"] == 0
        pages = [page async for page in direct.files.list(prefix="empty/", delimiter="/").pages()]
        assert (pages[0]["prefixes"], pages[0]["files"]) == (["empty/folder/"], []), pages
        await direct.files.delete("empty/folder/")
        await direct.files.upload("empty/folder/", b"1")`
      expect(await session.errorOf(program)).toMatchObject({
        code: 'invalid_file_name',
        status: 400,
      })
    })

    it('take every valid name, and refuse what is none', async () => {
      const program = `
        from cloud_repository import CloudRepositoryError
        names = ${JSON.stringify(VALID_NAMES)}
        for name in names:
            content = b"" if name.endswith("/") else name.encode()
            assert (await direct.files.upload(name, content))["name"] == name, name
            assert (await direct.files.get(name))["name"] == name, name
            download = await direct.files.download(name)
            assert b"".join([chunk async for chunk in download]) == content, name
            moved = "moved/" if name.endswith("/") else "moved"
            assert (await direct.files.rename(name, moved))["name"] == moved, name
            assert (await direct.files.rename(moved, name))["name"] == name, name
        listed = [file["name"] async for file in direct.files.list()]
        assert set(names) <= set(listed)
        taken = []
        for name in ${JSON.stringify(SOME_BAD_NAMES)}:
            for call in (
                lambda: direct.files.upload(name, b"1"),
                lambda: direct.files.delete(name),
                lambda: direct.files.update(name, keep=True),
                lambda: direct.files.rename(name, "other"),
                lambda: direct.files.rename(names[0], name),
            ):
                try:
                    await call()
                    taken.append(name)
                except CloudRepositoryError as error:
                    if error.code != "invalid_file_name":
                        taken.append([name, error.code])
        for name in names:
            await direct.files.delete(name)
        return taken`
      expect(await session.run(program)).toEqual([])
    }, 60_000)

    it('upload with conditions, visibility, expiry, eviction, a media type and metadata', async () => {
      const program = `
        file = await direct.files.upload(
            "terms", b"1", visibility="public", expires_in=3600, evict="none-", if_none_match="*")
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

    it.each(['b"1"', 'bytes(9 * 2**20)'])(
      'describe and redescribe a file of %s',
      async (content) => {
        const program = `
        given = {"camera": "Tür 門", "gone": "x"}
        file = await direct.files.upload("described", ${content}, media_type="image/jpeg", metadata=given)
        assert (file["media_type"], file["metadata"]) == ("image/jpeg", given), file
        file = await direct.files.update("described", media_type="image/png", metadata={"gone": None, "new": "1"})
        assert (file["media_type"], file["metadata"]) == ("image/png", {"camera": "Tür 門", "new": "1"}), file
        file = await direct.files.upload("described", ${content})
        assert (file["media_type"], len(file["metadata"])) == ("application/octet-stream", 2), file
        assert (await direct.files.upload("described", ${content}, metadata={}))["metadata"] == {}
        await direct.files.update("described", metadata={"a": "b"})
        return (await direct.files.update("described", metadata=None))["metadata"]`
        expect(await session.run(program)).toEqual({})
      },
    )

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
      // The iterator failed before its upload was created. The other upload is kept for a later attempt.
      const left = `return [one["length"] async for one in direct.uploads.list()]`
      expect(await session.run(left)).toEqual([9 * 2 ** 20])
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

    it('upload with a token that may do nothing else', async () => {
      const program = `
        scope = {"actions": ["create"], "prefix": "camera "}
        narrow = open_with((await direct.tokens.create({"scope": scope}))["access_token"])
        files = [await narrow.files.upload(f"camera {size}", bytes(size)) for size in (1, 9 * 2**20)]
        sizes = [(await direct.files.get(f"camera {size}"))["size"] for size in (1, 9 * 2**20)]
        return [[file["name"] for file in files], sizes]`
      const names = ['camera 1', `camera ${9 * 2 ** 20}`]
      expect(await session.run(program)).toEqual([names, [1, 9 * 2 ** 20]])
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
