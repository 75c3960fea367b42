import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { done } from '../../http/admin/fixture.ts'
import { upload } from '../../http/fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { confirm, openWithOperatorPage, visitAsOperator } from './fixture.ts'

describeInBrowser('the capacity of a user, as the operator sees it', (browser) => {
  let service: TestService
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())

  it('has the colour of its state, in the list and in the record', async () => {
    const users: TestUser[] = []
    for (const used of [200, 9500, 9950]) {
      const user = await service.createUser(9000)
      await upload(service, { user, name: 'a.bin', content: 'x'.repeat(used) })
      users.push(user)
    }
    const page = await visitAsOperator({ browser: browser(), service, path: '/#/users' })
    const colours = new Set<string>()
    for (const { userId } of users) {
      await page.getByRole('row').filter({ hasText: userId }).waitFor()
      const listed = await colourOf(page, `tr:has([title="${userId}"]) .bar span`)
      await page.getByRole('link', { name: userId }).click()
      await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
      expect(await colourOf(page, '.meter-used')).toBe(listed)
      colours.add(listed)
      await page.goBack()
    }
    expect(colours.size).toBe(3)
  })
})

describeInBrowser('the operator', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(9000)
  })

  /** Where it is another day than at the service for most of the day. */
  const openUser = async () => {
    const options = { service, path: `/#/users/${user.userId}`, timezoneId: 'Asia/Tokyo' }
    const page = await visitAsOperator({ browser: browser(), ...options })
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
    return page
  }
  const grants = async () => {
    const { grants: all } = await done(service, {
      method: 'GET',
      path: `/${user.userId}/grants`,
      status: 200,
    })
    return JSON.stringify(all)
  }

  it('grants capacity to the end of a day, and revokes it', async () => {
    const page = await openUser()
    await page.getByRole('button', { name: 'Grant capacity' }).click()
    await page.getByLabel('Capacity', { exact: true }).fill('2')
    await page.getByLabel('Reference').fill('ticket-9')
    await page.getByLabel('Last day').fill('2099-12-31')
    await confirm(page, 'Grant')
    const entry = page.getByRole('listitem').filter({ hasText: 'ticket-9' })
    await entry.getByText('2 GiB').waitFor()
    expect(await entry.textContent()).toContain('support, until Dec 31, 2099')
    expect(await grants()).toContain('"ends_at":"2099-12-31T14:59:59.000Z"')
    await page.getByRole('button', { name: 'Revoke ticket-9' }).click()
    await confirm(page, 'Revoke')
    await entry.waitFor({ state: 'detached' })
    expect(await grants()).not.toContain('ticket-9')
  })

  it.each([
    {
      when: 'ended',
      period: { ends_at: '2020-02-03T12:00:00Z' },
      words: 'support, ended Feb 3, 2020',
      shrinks: false,
    },
    {
      when: 'begins later',
      period: { starts_at: '2098-02-03T12:00:00Z', ends_at: '2099-02-03T12:00:00Z' },
      words: 'support, from Feb 3, 2098, until Feb 3, 2099',
      shrinks: false,
    },
    {
      when: 'is in force',
      period: { starts_at: '2020-02-03T12:00:00Z' },
      words: 'support, since Feb 3, 2020, no end',
      shrinks: true,
    },
  ])(
    'knows a grant that $when, and what its revocation does',
    async ({ period, words, shrinks }) => {
      const path = `/${user.userId}/grants/support/ticket-9`
      await done(service, { method: 'PUT', path, body: { bytes: 2048, ...period }, status: 201 })
      const page = await openUser()
      const entry = page.getByRole('listitem').filter({ hasText: 'ticket-9' })
      expect(await entry.locator('.quiet').textContent()).toBe(words)
      await page.getByRole('button', { name: 'Revoke ticket-9' }).click()
      const question = await page.getByRole('dialog').textContent()
      expect(question?.includes('The capacity shrinks by 2 KiB.')).toBe(shrinks)
      expect(question?.includes('so the capacity stays the same')).toBe(!shrinks)
    },
  )
})

async function colourOf(page: Page, selector: string): Promise<string> {
  const element = `document.querySelector(${JSON.stringify(selector)})`
  return String(await page.evaluate(`getComputedStyle(${element}).backgroundColor`))
}
