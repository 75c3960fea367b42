import { expect, it, onTestFinished } from 'vitest'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { describeInBrowser } from '../fixture.ts'
import { lookAgain, openWithOperatorPage, visitAsOperator } from './fixture.ts'

const USERS = '/#/users'

describeInBrowser('the operator of many users', (browser) => {
  it('reads them a page at a time', async () => {
    const service = await openWithOperatorPage()
    onTestFinished(() => service.stop())
    for (let id = 100; id < 250; id += 1) {
      await service.users.createUser(parseUserId(`user-${id}`))
    }
    const page = await visitAsOperator({ browser: browser(), service, path: USERS })
    const rows = page.getByRole('rowheader')
    await expect.poll(() => rows.count()).toBe(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(150)
    const ids = await rows.allTextContents()
    expect(ids).toEqual(ids.toSorted())
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)

    const order = page.getByRole('combobox', { name: 'Sort by' })
    await order.selectOption('Newest first')
    await expect.poll(() => rows.first().textContent()).toBe('user-249')
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.last().textContent()).toBe('user-100')
    await page.getByRole('searchbox').fill('user-12')
    await expect.poll(() => rows.first().textContent()).toBe('user-120')
    expect(await order.isDisabled()).toBe(true)
  })

  it('finds those whose ids begin so, also beyond what has been read', async () => {
    const service = await openWithOperatorPage()
    onTestFinished(() => service.stop())
    for (const id of [...Array.from({ length: 120 }, (_, at) => `a-${at}`), 'zoe', 'zora']) {
      await service.users.createUser(parseUserId(id))
    }
    const visited = { browser: browser(), service, path: USERS, hasTestClock: true }
    const page = await visitAsOperator(visited)
    const ids = () => page.getByRole('rowheader').allTextContents()
    const search = page.getByRole('searchbox')
    await search.fill('zo')
    await expect.poll(ids).toEqual(['zoe', 'zora'])
    await service.users.createUser(parseUserId('zozo'))
    await expect
      .poll(async () => {
        await page.context().clock.fastForward(10_000)
        return await ids()
      })
      .toEqual(['zoe', 'zora', 'zozo'])
    await search.fill('a-')
    await expect.poll(async () => (await ids()).length).toBe(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(async () => (await ids()).length).toBe(120)
    for (const nobody of ['zoo', 'zoe b', 'ö']) {
      await search.fill(nobody)
      await page.getByText(`No id and no device contains “${nobody}”`).waitFor()
      expect(await ids()).toEqual([])
    }
    await search.fill('zor')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'zora' }).waitFor()
    await page.getByRole('link', { name: 'All users' }).click()
    await expect.poll(ids).toEqual(['zora'])
    await search.fill('')
    await expect.poll(async () => (await ids()).length).toBe(100)
  })

  it('finds them by the label of a device, and by Enter whom an id names beyond what is read', async () => {
    const service = await openWithOperatorPage()
    onTestFinished(() => service.stop())
    for (const id of [...Array.from({ length: 120 }, (_, at) => `a-${at}`), 'a', 'b']) {
      await service.users.createUser(parseUserId(id))
    }
    const device = { source: 'device', reference: 'cam-7', label: 'Front Door', bytes: 1 }
    const terms = { model: undefined, startsAt: undefined, endsAt: undefined }
    await service.users.putGrant({ userId: parseUserId('b'), ...device, ...terms })
    const page = await visitAsOperator({ browser: browser(), service, path: USERS })
    const search = page.getByRole('searchbox')
    const ids = () => page.getByRole('rowheader').allTextContents()
    await search.fill('front d')
    await expect.poll(ids).toEqual(['bFront Door'])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'b', exact: true }).waitFor()
    await page.getByRole('link', { name: 'All users' }).click()
    await search.fill('a-119')
    await expect.poll(ids).toEqual(['a-119'])
    await search.fill('a')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'a', exact: true }).waitFor()
  })

  it('is told when nobody answers any more, and goes on when the service is back', async () => {
    const service = await openWithOperatorPage()
    onTestFinished(() => service.stop())
    const page = await visitAsOperator({ browser: browser(), service, hasTestClock: true })
    await page.context().setOffline(true)
    await lookAgain(page)
    await page.getByText('cannot be reached.').waitFor()
    await page.context().setOffline(false)
    await lookAgain(page)
    await page.getByText('cannot be reached.').waitFor({ state: 'detached' })
    expect(await page.getByText('OK', { exact: true }).count()).toBe(2)
  })
})
