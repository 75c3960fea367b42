import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from '../documents/pages.ts'
import { change, remove } from '../http/file-requests.ts'
import { MIB, secretOf, upload } from '../http/fixture.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { isSkipped } from '../support/servers/needs.ts'
import { CLIENTS, whyNot } from './programs.ts'

const PAGE = 'docs/following.md'

const python = CLIENTS.find(({ language }) => language === 'python')
const reason = python === undefined ? 'there is no client in Python' : await whyNot(python)

describe.skipIf(isSkipped(reason))('the mirror in the documents', () => {
  let folder: string
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mirror-'))
    service = await openEmbedded()
    user = await service.createUser(MIB)
    const [block] = blocksOf({ path: PAGE, text: await readFile(PAGE, 'utf8') })
    await writeFile(join(folder, 'mirror.py'), block?.text ?? '')
  })
  afterAll(async () => {
    await service.stop()
    await rm(folder, { recursive: true })
  })

  function start(): ChildProcess {
    const env = { ...process.env, BASE_URL: service.url, ACCESS_TOKEN: secretOf(user) }
    const args = [join(folder, 'mirror.py'), join(folder, 'copy')]
    return spawn('python3', args, { env, stdio: 'inherit' })
  }

  async function copied(): Promise<Record<string, string>> {
    const names = await readdir(join(folder, 'copy')).catch(() => [])
    const pairs = names.map(async (name) => [
      name,
      await readFile(join(folder, 'copy', name), 'utf8').catch(() => ''),
    ])
    return Object.fromEntries((await Promise.all(pairs)) as [string, string][])
  }

  it('keeps its folder equal to the repository, also over a restart', async () => {
    for (const name of ['a', 'b', 'c d']) await upload(service, { user, name, content: name })
    const first = start()
    await expect.poll(copied).toEqual({ a: 'a', b: 'b', 'c d': 'c d' })
    await upload(service, { user, name: 'a', content: 'again' })
    await change(service, { user, name: 'b', body: { name: 'renamed ü' } })
    await remove(service, { user, name: 'c d' })
    await expect.poll(copied).toEqual({ a: 'again', 'renamed ü': 'b' })
    first.kill()
    await once(first, 'exit')
    await remove(service, { user, name: 'a' })
    await upload(service, { user, name: 'e', content: 'e' })
    const second = start()
    await expect.poll(copied).toEqual({ 'renamed ü': 'b', e: 'e' })
    second.kill()
    await once(second, 'exit')
  })
})
