import { randomBytes } from 'node:crypto'
import { access, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { download, MIB, secretOf } from '../../http/fixture.ts'
import { cancel, listed } from '../../http/resumable/tus-requests.ts'
import { type HttpProxy, startHttpProxy } from '../../support/faults/http-proxy.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { type ClientProgram, runClient, whyNot } from '../programs.ts'
import { UPLOADERS } from './programs.ts'

const NAME = 'film.mov'

/** Programs that keep the URL of the upload in a file. */
const KEEPING = await Promise.all(
  UPLOADERS.filter(({ language }) => language !== 'java').map(async (program) => ({
    title: program.title,
    program,
    skipped: isSkipped(await whyNot(program)),
  })),
)

describe.each(KEEPING)('$title, killed in the middle and run again', ({ skipped, program }) => {
  let opened: AsyncDisposableStack
  let service: TestService
  let user: TestUser
  let folder: string
  let proxy: HttpProxy
  /** Set, an append calls it, and is lost. */
  let onAppend: (() => void) | undefined
  const content = randomBytes(MIB)
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    service = await openEmbedded()
    opened.defer(() => service.stop())
    onAppend = undefined
    proxy = await startHttpProxy({
      port: service.port,
      onRequest: ({ method }) => {
        if (method !== 'PATCH' || onAppend === undefined) return undefined
        onAppend()
        return 'lost'
      },
    })
    opened.defer(() => proxy.stop())
    user = await service.createUser(10 * MIB)
    folder = await temporaryFolder(opened)
    await writeFile(join(folder, NAME), content)
  })
  afterEach(() => opened.disposeAsync())

  it.skipIf(skipped)('continues the same upload', { timeout: 60_000 }, async () => {
    const begun = await killedUpload(program)
    await finish(program)
    expect(await versionOf()).toBe(begun)
  })

  it.skipIf(skipped)('begins a new one if that has ended', { timeout: 60_000 }, async () => {
    const begun = await killedUpload(program)
    const path = `/users/me/uploads/${begun}`
    expect((await cancel(service, { user, name: NAME, id: begun, path })).status).toBe(204)
    await finish(program)
    expect(await versionOf()).not.toBe(begun)
  })

  /** Kills the program when it sends the file. Resolves to the upload that it leaves. */
  async function killedUpload(client: ClientProgram) {
    const killed = new AbortController()
    onAppend = () => killed.abort()
    await expect(run(client, killed.signal)).rejects.toThrow('abort')
    onAppend = undefined
    const [upload, ...more] = await listed(service, user)
    expect(more).toEqual([])
    await access(join(folder, `${NAME}.upload`))
    return String(upload) as Parameters<typeof cancel>[1]['id']
  }

  async function finish(client: ClientProgram): Promise<void> {
    const { code, stderr } = await run(client)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { status, body } = await download(service, { user, name: NAME })
    expect({ status, isSame: content.equals(body) }).toEqual({ status: 200, isSame: true })
    expect(await listed(service, user)).toEqual([])
    expect(await readdir(folder)).toEqual([NAME])
  }

  function run(client: ClientProgram, signal?: AbortSignal) {
    const environment = { BASE_URL: proxy.url, ACCESS_TOKEN: secretOf(user) }
    const args = [join(folder, NAME), NAME]
    return runClient(client, { folder, args, environment, ...(signal && { signal }) })
  }

  async function versionOf(): Promise<string | undefined> {
    const { headers } = await download(service, { user, name: NAME, method: 'HEAD' })
    return headers['etag']?.replaceAll('"', '')
  }
})
