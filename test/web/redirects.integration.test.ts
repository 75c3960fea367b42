import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { MIB, upload } from '../http/fixture.ts'
import { startHttpProxy } from '../support/faults/http-proxy.ts'
import { buildPage } from '../support/http/page.ts'
import { openRedirecting } from '../support/service/s3-service.ts'
import { describeInBrowser, openPage } from './fixture.ts'

const minio = inject('minio')

describeInBrowser('downloads past the service', (browser) => {
  it.skipIf(minio === undefined)('have name and content, and take no cookie along', async () => {
    const store = await startHttpProxy({ port: Number(new URL(minio?.endpoint ?? '').port) })
    onTestFinished(() => store.stop())
    const endpoint = store.url.replace('127.0.0.1', 'localhost')
    const page = await buildPage()
    const service = await openRedirecting(minio, { aboveBytes: 1000, endpoint, page })
    onTestFinished(() => service.stop())
    const user = await service.createUser(MIB)
    const name = 'ä & b.html'
    const content = randomBytes(1001)
    await upload(service, { user, name, content })
    // Which asks another host, as no other page may.
    const { page: tab } = await openPage({ browser: browser(), service, user })
    onTestFinished(() => tab.context().close())
    const begun = tab.waitForEvent('download')
    await tab.getByRole('link', { name: `Download ${name}` }).click()
    const file = await begun
    expect(file.suggestedFilename()).toBe(name)
    expect(await readFile(await file.path())).toEqual(content)
    const [asked, ...others] = store.requests
    expect(asked?.path).toMatch(/^\/test-[^/]+\/users\//)
    for (const name of ['cookie', 'authorization', 'referer']) {
      expect(asked?.headers).not.toHaveProperty(name)
    }
    expect(others).toEqual([])
  })
})
