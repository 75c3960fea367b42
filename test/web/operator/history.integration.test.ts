import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { done } from '../../http/admin/fixture.ts'
import { remove } from '../../http/file-requests.ts'
import { download, upload } from '../../http/fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { confirm, openWithOperatorPage, visitAsOperator } from './fixture.ts'

describeInBrowser('the history of a user, as the operator sees it', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(9000)
  })

  const openHistory = async () => {
    const options = { service, path: `/#/users/${user.userId}` }
    const page = await visitAsOperator({ browser: browser(), ...options })
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    return page
  }
  const put = (name: string, content: string) => upload(service, { user, name, content })
  const contentOf = async (name: string) => String((await download(service, { user, name })).body)

  it('is shown when it is asked for, and a deleted file is restored', async () => {
    await put('a.txt', 'lost')
    await put('b.txt', 'other')
    await remove(service, { user, name: 'a.txt' })
    await remove(service, { user, name: 'b.txt' })
    const page = await openHistory()
    const entry = page.getByRole('listitem').filter({ hasText: 'a.txt' })
    await entry.getByText(/^deleted .*, kept until /).waitFor()
    await page.getByRole('searchbox').fill('b.txt')
    await entry.waitFor({ state: 'detached' })
    await page.getByRole('searchbox').fill('a.txt')
    await entry.getByRole('button', { name: /^Restore a\.txt, deleted/ }).click()
    await page.getByText('“a.txt” was restored.').waitFor()
    await page.getByText('Nothing to restore').waitFor()
    expect(await contentOf('a.txt')).toBe('lost')
    const { capacity } = await done(service, {
      method: 'GET',
      path: `/${user.userId}`,
      status: 200,
    })
    expect(capacity).toMatchObject({ used: 4, file_count: 1 })
  })

  it('is that of the last search also after a restore that took longer', async () => {
    for (const name of ['a.txt', 'b.txt']) {
      await put(name, 'x')
      await remove(service, { user, name })
    }
    const page = await openHistory()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/restore', async (route) => {
      await released
      await route.continue()
    })
    await page.getByRole('searchbox').fill('a.txt')
    await page.getByText('b.txt').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Restore a\.txt/ }).click()
    await page.getByRole('searchbox').fill('b.txt')
    await page.getByRole('button', { name: /^Restore b\.txt/ }).waitFor()
    const asked = page.waitForRequest(/\/history\?/)
    release()
    expect(new URL((await asked).url()).searchParams.get('name')).toBe('b.txt')
  })

  it('replaces a current file on confirmation alone, and says why it cannot', async () => {
    await put('a.txt', 'old')
    await put('a.txt', 'new')
    const page = await openHistory()
    const restore = page.getByRole('button', { name: /^Restore a\.txt, replaced/ })
    await restore.click()
    await page.getByRole('dialog').getByText('already exists').waitFor()
    expect(await contentOf('a.txt')).toBe('new')
    await confirm(page, 'Replace it')
    await page.getByText('“a.txt” was restored.').waitFor()
    expect(await contentOf('a.txt')).toBe('old')
    await put('big.bin', 'x'.repeat(6000))
    await remove(service, { user, name: 'big.bin' })
    await put('full.bin', 'x'.repeat(8000))
    await page.getByRole('searchbox').fill('big.bin')
    await page.getByRole('button', { name: /^Restore big\.bin/ }).click()
    await page.getByText('Not enough space to restore “big.bin”').waitFor()
  })
})
