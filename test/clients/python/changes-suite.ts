import { describe, expect, it } from 'vitest'
import { upload } from '../../http/fixture.ts'
import { cursorOf, startFakeService } from '../fake-service.ts'
import type { PythonFixture } from './fixture.ts'

export function changesSuite(get: () => PythonFixture): void {
  describe('changes.follow', () => {
    it('yields each change once and in order, over cuts in the middle of an event', async () => {
      const { session, network } = get()
      network.mishaps.length = 0
      const cursor = await session.run(`
        async for page in direct.files.list(limit=1).pages():
            kept.cursor = page["changes_cursor"]
            break
        for name in "abcd":
            await direct.files.upload("feed " + name, name.encode())
        await direct.files.rename("feed a", "feed e")
        return kept.cursor`)
      expect(cursor).toEqual(expect.any(String))
      network.mishaps.push({ cutAfter: 700 }, { cutAfter: 10 })
      const seen = await session.run(`
        seen = []
        async for change in client.changes.follow(kept.cursor):
            seen.append(change["type"] + " " + change["name"])
            if len(seen) == 3:
                kept.third = change["cursor"]
            if change["name"] == "feed e":
                break
        async for change in client.changes.follow(kept.third):
            return seen + [change["name"]]`)
      const created = ['a', 'b', 'c', 'd'].map((name) => `file.created feed ${name}`)
      expect(seen).toEqual([...created, 'file.renamed feed e', 'feed d'])
      expect(network.mishaps).toEqual([])
    }, 20_000)

    it('reads events in pieces of any size, and hidden ones move the cursor only', async () => {
      const event = (sequence: number) =>
        `id: after-${sequence}\nevent: change\ndata: ${JSON.stringify({ sequence, name: 'é: ü' })}\n\n`
      const text = `retry: 5\nid: begin\n\n: quiet\n\n${event(1)}id: hidden\n\n${event(2)}`
      const asked: (string | null)[] = []
      await using server = await startFakeService(async ({ url }, response) => {
        asked.push(cursorOf(url))
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        if (asked.length === 2) return void response.end('retry: 5\nid: later\n\n')
        if (asked.length === 3) return void response.end(event(3))
        for (const byte of Buffer.from(text)) {
          response.write(Buffer.of(byte))
          await new Promise((resolve) => setImmediate(resolve))
        }
        response.end('data: {"cut')
      })
      const seen = await get().session.run(`
        seen = []
        async for change in connect("${server.url}").changes.follow("x"):
            seen.append(change)
            if len(seen) == 3:
                return seen`)
      const change = (sequence: number) => ({ sequence, name: 'é: ü', cursor: `after-${sequence}` })
      expect(seen).toEqual([1, 2, 3].map(change))
      expect(asked).toEqual(['x', 'after-2', 'later'])
    })

    it('begins at the present without a cursor', async () => {
      const { session, network } = get()
      network.mishaps.length = 0
      network.requests.length = 0
      const following = session.run(`
        async for change in client.changes.follow():
            return change["name"]`)
      await expect.poll(() => network.requests.length).toBe(2)
      const { service, user } = get()
      await upload(service, { user, name: 'present' })
      expect(await following).toBe('present')
    })

    it.each([
      { cursor: 'unknown', status: 400, code: 'invalid_parameter', kind: 'CloudRepositoryError' },
      { cursor: 'old', status: 410, code: 'cursor_expired', kind: 'CursorExpired' },
      { cursor: 'proxied', status: 200, code: 'unexpected_response', kind: 'CloudRepositoryError' },
    ])('raises $kind, $code', async ({ cursor, status, code, kind }) => {
      await using server = await startFakeService((_, response) => {
        const type = status === 200 ? 'text/html' : 'application/problem+json'
        response.writeHead(status, { 'content-type': type })
        response.end(JSON.stringify({ status, code, detail: 'No.' }))
      })
      const program = `
        async for change in connect("${server.url}").changes.follow("${cursor}"):
            pass`
      expect(await get().session.errorOf(program)).toMatchObject({ status, code, kind })
    })
  })
}
