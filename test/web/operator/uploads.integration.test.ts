import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { done } from '../../http/admin/fixture.ts'
import { beginUpload } from '../../support/http/tus-client.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { confirm, openWithOperatorPage, visitAsOperator } from './fixture.ts'

describeInBrowser('the unfinished uploads of a user, as the operator sees them', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(9000)
  })

  const openUser = async () => {
    const options = { service, path: `/#/users/${user.userId}` }
    const page = await visitAsOperator({ browser: browser(), ...options })
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
    return page
  }

  it('are listed with what has arrived, and discarded on confirmation', async () => {
    const { cookie } = user
    await beginUpload(service, {
      cookie,
      name: 'film.mov',
      length: 4096,
      content: 'x'.repeat(2048),
    })
    await beginUpload(service, { cookie, name: 'other.bin', length: 10 })
    const page = await openUser()
    const entry = page.getByRole('listitem').filter({ hasText: 'film.mov' })
    await entry.getByText('2 KiB of 4 KiB, interrupted, kept until ').waitFor()
    await page.getByRole('button', { name: 'Discard film.mov' }).click()
    const question = await page.getByRole('dialog').textContent()
    expect(question).toContain('The 2 KiB that have arrived are deleted')
    await confirm(page, 'Discard')
    await entry.waitFor({ state: 'detached' })
    await page.getByRole('listitem').filter({ hasText: 'other.bin' }).waitFor()
    const path = `/${user.userId}`
    const left = await done(service, { method: 'GET', path: `${path}/uploads`, status: 200 })
    expect(left['uploads']).toMatchObject([{ name: 'other.bin' }])
    const { capacity } = await done(service, { method: 'GET', path, status: 200 })
    expect(capacity).toMatchObject({ reserved: 10 })
  })

  it('are not mentioned where there are none', async () => {
    const page = await openUser()
    expect(await page.getByText('Unfinished uploads').count()).toBe(0)
  })
})
