import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { blocksOf } from '../documents/pages.ts'
import { MIB, secretOf } from '../http/fixture.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { isSkipped } from '../support/servers/needs.ts'
import { expectMirror } from './mirror.ts'
import { whyNoRequests } from './guides/run.ts'

const PAGE = 'docs/following.md'

describe.skipIf(isSkipped(await whyNoRequests()))('the mirror in Python of the documents', () => {
  let folder: string
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mirror-'))
    service = await openEmbedded()
    user = await service.createUser(MIB)
    const blocks = blocksOf({ path: PAGE, text: await readFile(PAGE, 'utf8') })
    const block = blocks.find(({ language }) => language === 'python')
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

  it('keeps its folder equal to the repository, also over a restart', async () => {
    await expectMirror({ service, user, folder: join(folder, 'copy'), start })
  })
})
