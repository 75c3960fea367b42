import { mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { forTest } from '../../support/for-test.ts'
import { startDemo } from '../../support/service/demo.ts'
import { exitOf, temporaryFolder } from '../../support/service/program.ts'

describe('F11 a process whose thread that writes SQLite cannot work', () => {
  it('logs why and ends with 1, and the next one goes on', async () => {
    const DATA_DIR = await temporaryFolder(forTest())
    const environment = { DATA_DIR }
    const { process, output, url, cookie } = await startDemo({ environment, opened: forTest() })
    const file = join(DATA_DIR, 'database.sqlite')
    await rename(file, `${file}.away`)
    await mkdir(file)
    const upload = await put(url, cookie)
    expect(upload).not.toBe(200)
    expect(await exitOf(process)).toBe(1)
    expect(output()).toMatch(/"uncaught exception; exiting"/)
    expect(output()).toContain('unable to open database file')
    await rmdir(file)
    await rename(`${file}.away`, file)
    const next = await startDemo({ environment, opened: forTest() })
    expect(await put(next.url, next.cookie)).toBe(200)
    next.process.kill('SIGTERM')
    expect(await exitOf(next.process)).toBe(0)
  })
})

/** Uploads a file, and returns the status of the answer, or `undefined` where there was none. */
async function put(url: string, cookie: string): Promise<number | undefined> {
  const request = { method: 'PUT', headers: { cookie }, body: 'hello' }
  return (await fetch(`${url}/users/me/repo/a`, request).catch(() => undefined))?.status
}
