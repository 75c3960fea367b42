import { beforeEach, describe, expect, it } from 'vitest'
import { MIB } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import type { PythonFixture } from './fixture.ts'
import type { PythonSession } from './installed-package.ts'

/** The API beside files and changes, and that of operators. */
export function apiSuite(get: () => PythonFixture): void {
  let network: HttpProxy
  let session: PythonSession
  beforeEach(() => {
    ;({ network, session } = get())
    network.mishaps.length = 0
  })

  it('the history lists, downloads, restores and purges', async () => {
    const program = `
      await direct.history.purge_all()
      first = await direct.files.upload("past/a", b"first")
      second = await direct.files.upload("past/a", b"second")
      await direct.files.delete("past/a")
      await direct.files.upload("past/b", b"b")
      await direct.files.delete("past/b")
      ends = [[v["name"], v["ended_as"]] async for v in direct.history.list(prefix="past/", limit=2)]
      download = await direct.history.download(second["version"], start=1)
      assert (download.etag, await download.read()) == (second["version"], b"econd")
      assert (await direct.history.restore(first["version"]))["version"] == first["version"]
      try:
          await direct.history.restore(second["version"])
      except CloudRepositoryError as error:
          assert error.code == "file_exists"
      restored = await direct.history.restore(second["version"], overwrite=True, if_match=first["version"])
      renamed = await direct.history.restore(first["version"], name="past/c")
      of_b = [v["version"] async for v in direct.history.list(name="past/b")]
      await direct.history.purge(of_b[0])
      assert [v async for v in direct.history.list(name="past/b")] == []
      await direct.history.purge_all()
      assert [v async for v in direct.history.list()] == []
      return [ends, restored["replaced"], renamed["name"]]`
    const ends = [
      ['past/b', 'deleted'],
      ['past/a', 'deleted'],
      ['past/a', 'replaced'],
    ]
    expect(await session.run(program)).toEqual([ends, true, 'past/c'])
  })

  it('a restore whose response is lost is told by its name, or has an unknown outcome', async () => {
    const version = await session.run(`
      version = (await direct.files.upload("lost/a", b"1"))["version"]
      await direct.files.delete("lost/a")
      return version`)
    const restore = (terms: string) => `client.history.restore("${String(version)}"${terms})`
    network.mishaps.push('unanswered')
    expect(await session.run(`return (await ${restore(', name="lost/b"')})["name"]`)).toBe('lost/b')
    await session.run('await direct.files.delete("lost/b")')
    network.mishaps.push('unanswered')
    expect(await session.errorOf(`await ${restore('')}`)).toMatchObject({ code: 'outcome_unknown' })
  })

  it('links are created, listed, changed, renewed and revoked', async () => {
    const program = `
      await direct.files.upload("report", b"report")
      link = await direct.links.create({"kind": "download", "name": "report", "max_uses": 3})
      assert httpx.get(link["url"] + "/report").text == "report"
      listed = [one async for one in direct.links.list() if one["link_id"] == link["link_id"]]
      assert [one["uses_left"] for one in listed] == [2], listed
      changed = await direct.links.update(link["link_id"], {"label": "Report", "max_uses": None})
      assert (changed["label"], changed["max_uses"]) == ("Report", None)
      renewed = await direct.links.renew_secret(link["link_id"])
      assert httpx.get(link["url"]).status_code == 404
      assert httpx.get(renewed["url"] + "/report").text == "report"
      await direct.links.revoke(link["link_id"])
      return httpx.get(renewed["url"]).status_code`
    expect(await session.run(program)).toBe(404)
  })

  it('a new secret is asked for again if the response is lost', async () => {
    network.mishaps.push('unanswered')
    const program = `
      link = await direct.links.create({"kind": "drop", "prefix": "in/"})
      renewed = await client.links.renew_secret(link["link_id"])
      status = httpx.get(renewed["url"]).status_code
      await direct.links.revoke(link["link_id"])
      return status`
    expect(await session.run(program)).toBe(200)
  })

  it('tokens are created, used, listed and revoked, and a session tells whose they are', async () => {
    const program = `
      issued = await direct.tokens.create({"label": "cam", "scope": {"actions": ["create"], "prefix": "cam/"}})
      camera = open_with(issued["access_token"])
      await camera.files.upload("cam/1", b"1")
      session = await camera.session()
      assert "cam" in [token["label"] async for token in direct.tokens.list()]
      await direct.tokens.revoke(issued["token_id"])
      try:
          await camera.files.upload("cam/2", b"2")
      except CloudRepositoryError as error:
          return [session["scope"]["actions"], session["scope"]["prefix"], error.code]`
    expect(await session.run(program)).toEqual([['create'], 'cam/', 'access_token_invalid'])
  })

  it('unfinished uploads are listed, found and cancelled', async () => {
    const program = `
      def cut(sent, total):
          if sent > 2**20:
              raise KeyError("cut")
      try:
          await direct.files.upload("unfinished", bytes(${9 * MIB}), on_progress=cut)
      except KeyError:
          pass
      left = [one async for one in direct.uploads.list() if one["name"] == "unfinished"]
      one = await direct.uploads.get(left[0]["upload_id"])
      await direct.uploads.cancel(one["upload_id"])
      return [len(left), one["length"], [up async for up in direct.uploads.list() if up["name"] == "unfinished"]]`
    expect(await session.run(program)).toEqual([1, 9 * MIB, []])
  })

  it('archives of a prefix and of names are downloaded whole, or not at all', async () => {
    const program = `
      import zipfile
      for name in ("zip/a/1.txt", "zip/2.txt", "zip/3.txt"):
          await direct.files.upload(name, name.encode())
      archive = await direct.files.archive(prefix="zip/")
      content = await archive.read()
      assert len(content) == archive.size
      names = sorted(zipfile.ZipFile(io.BytesIO(content)).namelist())
      await direct.files.archive("some.zip", names=["zip/2.txt", "zip/3.txt"])
      some = sorted(zipfile.ZipFile("some.zip").namelist())
      try:
          await direct.files.archive(names=[])
      except ValueError:
          return [names, some]`
    const [names, some] = (await session.run(program)) as string[][]
    expect(names).toEqual(['zip/2.txt', 'zip/3.txt', 'zip/a/1.txt'])
    expect(some).toHaveLength(2)
    network.mishaps.push({ cutAfter: 50 })
    const cut = 'await (await client.files.archive("cut.zip", prefix="zip/")).read()'
    expect(await session.errorOf(cut)).toMatchObject({ code: 'connection_lost' })
    expect(await session.run('return Path("cut.zip").exists()')).toBe(false)
  })

  it('a batch does all of its operations, or names the one that is refused', async () => {
    const program = `
      await direct.files.upload("batch/a", b"1")
      result = await direct.files.batch([
          {"op": "rename", "prefix": "batch/", "new_prefix": "done/"}, {"op": "update", "name": "done/a", "keep": True}])
      assert (result["results"][0]["matched"], result["results"][1]["file"]["keep"]) == (1, True), result
      try:
          await direct.files.batch([{"op": "delete", "name": "done/a"}, {"op": "delete", "name": "none"}])
      except CloudRepositoryError as error:
          return [error.code, error.problem["operation"], (await direct.files.get("done/a"))["keep"]]`
    expect(await session.run(program)).toEqual(['not_found', 1, true])
  })

  describe('the admin client', () => {
    it('manages users, and what belongs to them', async () => {
      const program = `
        admin, name = open_admin(), "pat-async" if is_async else "pat"
        assert (await admin.users.put(name))["status"] == "active"
        generated = (await admin.users.create())["user_id"]
        assert (await admin.users.get(generated))["devices"] == []
        assert name in [user["user_id"] async for user in admin.users.list(prefix=name)]
        pat = admin.user(name)
        assert (await pat.grants.put("promotion", "spring", {"bytes": 1000}))["bytes"] == 1000
        device = await pat.devices.put("camera-1", {"bytes": 500, "label": "Front door", "share": "own"})
        assert (device["label"], device["share"]) == ("Front door", "own")
        assert [one["device_id"] async for one in pat.devices.list()] == ["camera-1"]
        issued = await pat.tokens.create({"label": "phone"})
        own = open_with(issued["access_token"])
        file = await own.files.upload("a/b c", b"1")
        assert [one["name"] async for one in pat.files.list(order="-size")] == ["a/b c"]
        await pat.files.delete("a/b c")
        assert [one["version"] async for one in pat.history.list(prefix="a/")] == [file["version"]]
        assert (await pat.history.restore(file["version"]))["name"] == "a/b c"
        archive = await pat.archive(names=["a/b c"])
        assert len(await archive.read()) == archive.size
        link = await own.links.create({"kind": "drop", "prefix": "in/"})
        assert [one["link_id"] async for one in pat.links.list()] == [link["link_id"]]
        assert (await pat.links.update(link["link_id"], {"label": "In"}))["label"] == "In"
        await pat.links.revoke(link["link_id"])
        assert [one async for one in pat.uploads.list()] == []
        await pat.devices.delete("camera-1")
        await pat.grants.revoke("promotion", "spring")
        assert "promotion" not in [grant["source"] async for grant in pat.grants.list()]
        assert len([token async for token in pat.tokens.list()]) == 1
        await pat.tokens.revoke(issued["token_id"])
        assert (await admin.users.set_status(name, "suspended"))["status"] == "suspended"
        await admin.users.delete(name)
        await admin.users.delete(generated)
        assert [one async for one in admin.webhooks.list()] == []
        assert (await admin.overview())["users"]["active"] >= 1
        issued = await admin.operators.add(name, "viewer")
        viewer = open_admin(issued["token"])
        assert (await viewer.session()) == {"operator": name, "role": "viewer"}
        assert name in [one["name"] async for one in viewer.operators.list()]
        try:
            await viewer.operators.remove(name)
        except CloudRepositoryError as error:
            assert (error.code, error.problem["required"]) == ("operator_forbidden", "admin")
        assert (await admin.operators.get(name))["role"] == "viewer"
        await admin.operators.remove(name)
        assert [action async for action in admin.audit.list(operator=name)] == []
        return [action["action"] async for action in admin.audit.list(user_id=name)][0]`
      expect(await session.run(program)).toBe('user.delete')
    })

    it('is refused what is wrong', async () => {
      const codes = `
        codes = []
        for call in (
            lambda: open_admin("wrong").users.get("a"),
            lambda: open_admin().users.get("none"),
            lambda: open_admin().webhooks.retry("msg_none"),
            lambda: open_admin().webhooks.discard("msg_none"),
        ):
            try:
                await call()
            except CloudRepositoryError as error:
                codes.append(error.code)
        return codes`
      const expected = ['unauthorized', 'not_found', 'invalid_parameter', 'invalid_parameter']
      expect(await session.run(codes)).toEqual(expected)
    })
  })
}
