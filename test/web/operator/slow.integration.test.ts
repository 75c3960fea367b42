import { setTimeout } from 'node:timers/promises'
import type { Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { done } from '../../http/admin/fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { confirm, openWithOperatorPage, visitAsOperator } from './fixture.ts'

/** Longer than from one look at the service to the next. */
const SLOW_MS = 5_000

const USERS = '/#/users'

describeInBrowser('the operator of a slow service', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(9000)
  })

  it('sees a user, of whom no more is asked before that is answered', async () => {
    const { page, context } = await visitAsOperator({ browser: browser(), service, path: USERS })
    let asked = 0
    let most = 0
    await page.route(`**/admin/users/${user.userId}**`, async (route) => {
      asked += 1
      most = Math.max(most, asked)
      await setTimeout(SLOW_MS)
      asked -= 1
      await route.continue()
    })
    await page.getByRole('link', { name: user.userId }).click()
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor({ timeout: 4 * SLOW_MS })
    // The user, the devices, the grants, the tokens, the uploads and the links.
    expect(most).toBe(6)
    await context.close()
  })

  it('finds by Enter whom the answer names, and nobody of the list before where another letter follows', async () => {
    for (const id of ['alma', 'berta', 'bert']) {
      await done(service, { method: 'PUT', path: `/${id}`, status: 201 })
    }
    const { page, context } = await visitAsOperator({ browser: browser(), service, path: USERS })
    const search = page.getByRole('searchbox')
    const ids = () => page.getByRole('rowheader').allTextContents()
    await search.fill('alm')
    await expect.poll(ids).toEqual(['alma'])
    const place = page.url()
    await page.route(/prefix=ber(ta)?$/, hold)
    await search.fill('ber')
    await search.press('Enter')
    await search.pressSequentially('ta')
    // Its answer comes after that to what was searched by Enter.
    await expect.poll(ids).toEqual(['berta'])
    expect(page.url()).toBe(place)
    await search.press('Enter')
    await page.getByRole('heading', { name: 'berta' }).waitFor()
    await context.close()
  })

  it('is done with what is done, and hears apart from it that the rest could not be read', async () => {
    const path = `/#/users/${user.userId}`
    const { page, context } = await visitAsOperator({ browser: browser(), service, path })
    await page.getByRole('button', { name: 'Add a device' }).click()
    await page.getByLabel('Device id').fill('bell-1')
    const held: Route[] = []
    const problem = { code: 'internal_error', detail: 'No luck.' }
    const fail = (route: Route) => route.fulfill({ status: 500, json: problem })
    let answer = (route: Route): Promise<void> => Promise.resolve(void held.push(route))
    await page.route(`**/admin/users/${user.userId}**`, (route) =>
      route.request().method() === 'GET' ? answer(route) : route.continue(),
    )
    await confirm(page, 'Add')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    answer = fail
    await Promise.all(held.map(fail))
    expect(await page.getByRole('alert').textContent()).toContain('No luck.')
    answer = (route) => route.continue()
    await page.getByRole('listitem').filter({ hasText: 'bell-1' }).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await context.close()
  })
})

const HELD_MS = 1_000

async function hold(route: Route): Promise<void> {
  await setTimeout(HELD_MS)
  await route.continue()
}
