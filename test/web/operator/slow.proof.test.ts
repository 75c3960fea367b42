import { setTimeout } from 'node:timers/promises'
import type { Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { done } from '../../http/admin/fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser, effectsRun } from '../fixture.ts'
import { confirm, lookAgain, openWithOperatorPage, visitAsOperator } from './fixture.ts'

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
    const options = { service, path: USERS, hasTestClock: true }
    const page = await visitAsOperator({ browser: browser(), ...options })
    const held: Route[] = []
    let isSlow = true
    await page.route(`**/admin/users/${user.userId}**`, (route) =>
      isSlow ? void held.push(route) : route.continue(),
    )
    await page.getByRole('link', { name: user.userId }).click()
    // The user with the devices, the grants, the tokens, the uploads and the links.
    await expect.poll(() => held.length).toBe(5)
    for (let look = 0; look < 2; look += 1) {
      const looked = page.waitForResponse(/\/metrics$/)
      await lookAgain(page)
      await looked
      await effectsRun(page)
    }
    expect(held).toHaveLength(5)
    isSlow = false
    await Promise.all(held.map((route) => route.continue()))
    await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
  })

  it('finds by Enter whom the answer names, and nobody of the list before where another letter follows', async () => {
    for (const id of ['alma', 'berta', 'bert']) {
      await done(service, { method: 'PUT', path: `/${id}`, status: 201 })
    }
    const page = await visitAsOperator({ browser: browser(), service, path: USERS })
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
  })

  it('is done with what is done, and hears apart from it that the rest could not be read', async () => {
    const path = `/#/users/${user.userId}`
    const page = await visitAsOperator({ browser: browser(), service, path })
    await page.getByRole('button', { name: 'Add a device' }).click()
    await page.getByLabel('Device id').fill('bell-1')
    const held: Route[] = []
    const problem = { status: 500, code: 'internal_error' }
    const fail = (route: Route) => route.fulfill({ status: 500, json: problem })
    let answer = (route: Route): Promise<void> => Promise.resolve(void held.push(route))
    await page.route(`**/admin/users/${user.userId}**`, (route) =>
      route.request().method() === 'GET' ? answer(route) : route.continue(),
    )
    await confirm(page, 'Add')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    answer = fail
    await Promise.all(held.map(fail))
    expect(await page.getByRole('alert').textContent()).toContain('The service has had an error.')
    answer = (route) => route.continue()
    await page.getByRole('listitem').filter({ hasText: 'bell-1' }).waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })
})

const HELD_MS = 1_000

async function hold(route: Route): Promise<void> {
  await setTimeout(HELD_MS)
  await route.continue()
}
