import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { issueCookie, runCommand, startService } from '../../support/service/running-service.ts'
import { unpackOlderRelease, whyNoOlderRelease } from './older-release.ts'

const reason = await whyNoOlderRelease()
if (reason !== undefined) console.warn(`SKIPPED, the upgrade of local files: ${reason}`)

describe.skipIf(reason !== undefined)('an upgrade of SQLite and local files', () => {
  it('F10 serves, replaces, removes and verifies the files of the older version', async () => {
    await using opened = new AsyncDisposableStack()
    const DATA_DIR = join(await temporaryFolder(opened), 'data')
    const program = { environment: { DATA_DIR }, opened }
    const older = await startService({ ...program, cwd: await unpackOlderRelease(opened) })
    const cookie = await issueCookie('ada', program)
    const headers = { cookie }
    const put = async (url: string, name: string, size: number): Promise<string> => {
      const body = randomBytes(size)
      const file = `${url}/users/me/repo/${name}`
      expect((await fetch(file, { method: 'PUT', headers, body })).status).toBe(200)
      return digest(body)
    }
    const expected = new Map<string, string>()
    for (const [name, size] of [
      ['empty', 0],
      ['small', 4096],
      ['replaced', 4096],
      ['removed', 4096],
      ['large', 100_000],
    ] as const) {
      expected.set(name, await put(older.url, name, size))
    }
    await older.stop()

    const expectAll = async (url: string): Promise<void> => {
      for (const [name, sha256] of expected) {
        const reply = await fetch(`${url}/users/me/repo/${name}`, { headers })
        expect(digest(new Uint8Array(await reply.arrayBuffer()))).toBe(sha256)
      }
    }
    const newer = await startService(program)
    await expectAll(newer.url)
    expected.set('replaced', await put(newer.url, 'replaced', 2048))
    expected.set('new', await put(newer.url, 'new', 2048))
    await fetch(`${newer.url}/users/me/repo/removed`, { method: 'DELETE', headers })
    expected.delete('removed')
    await expectAll(newer.url)
    const verified = await runCommand('verify --deep --json', program)
    expect(verified.output).toContain('"remaining":0')
    await newer.stop()
  })
})
