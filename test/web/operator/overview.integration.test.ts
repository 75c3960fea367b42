import { afterAll, beforeAll, expect, it } from 'vitest'
import { ADMIN_TOKEN, done } from '../../http/admin/fixture.ts'
import { upload } from '../../http/fixture.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { NARROW } from '../looks.ts'
import { openWithOperatorPage, signIn, visitAdmin, visitAsOperator } from './fixture.ts'

describeInBrowser('the overview', (browser) => {
  let service: TestService
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())

  it('is the first view: all figures, and the fullest and the largest users, as they are now', async () => {
    const [small, large] = [await service.createUser(4096), await service.createUser(9000)]
    await upload(service, { user: small, name: 'a.bin', content: 'x'.repeat(3072) })
    await upload(service, { user: large, name: 'b.bin', content: 'x'.repeat(4096) })
    const path = `/${(await service.createUser(0)).userId}`
    await done(service, { method: 'PATCH', path, body: { status: 'suspended' }, status: 200 })
    const visited = { browser: browser(), service, hasTestClock: true }
    const page = await visitAsOperator(visited)
    const figures = page.getByRole('main').locator('dl')
    await expect.poll(() => figures.textContent()).toContain('Users31 suspended')
    expect(await figures.textContent()).toContain('Files2Stored7 KiB')
    expect(await figures.textContent()).not.toContain('Events to deliver')
    const ranked = (title: string) =>
      page.getByRole('region', { name: title }).getByRole('listitem').allTextContents()
    expect(await ranked('Fullest users')).toEqual([
      `${small.userId}3 KiB of 4.9 KiB`,
      `${large.userId}4 KiB of 9.7 KiB`,
    ])
    expect((await ranked('Largest users'))[0]).toContain(large.userId)
    await upload(service, { user: small, name: 'c.bin', content: 'x'.repeat(1024) })
    await page.context().clock.fastForward(20_000)
    await expect.poll(() => figures.textContent(), { timeout: 15_000 }).toContain('Stored8 KiB')

    const largest = page.getByRole('region', { name: 'Largest users' })
    await largest.getByRole('link', { name: large.userId }).click()
    await page.getByRole('heading', { name: large.userId }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await figures.waitFor()
  })

  it('has version, uptime, free disk and settings of the instance on its first screen', async () => {
    const page = await visitAdmin({ browser: browser(), service, viewport: NARROW })
    const setting = { name: 'OTHER_URL', value: 'https://a.example/...', set: true, secret: false }
    const answer = {
      taken_at: '2026-11-30T12:00:00.000Z',
      last_backup: { at: '2026-11-30T08:58:00.000Z' } as object | null,
      version: '1.2.3',
      uptime: 3 * 86_400,
      free_disk: { database: 0, objects: 5 * 2 ** 30 } as object,
      settings: [
        setting,
        { name: 'SOME_KEY', value: null, set: true, secret: true },
        { name: 'UNSET_KEY', value: null, set: false, secret: true },
        { name: 'MAX_FILES', value: '100000', set: false, secret: false },
      ],
    }
    await page.route('**/admin/overview', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), ...answer } })
    })
    await signIn(page, ADMIN_TOKEN)
    const facts = page.getByRole('list', { name: 'The instance that answers' })
    await expect
      .poll(() => facts.getByRole('listitem').allTextContents())
      .toEqual([
        'Version 1.2.3',
        'Up for 3 d',
        '0 bytes free for the database',
        '5 GiB free for files',
        'Last backup: 3 h 2 min ago',
        'Settings (2 set)',
      ])
    const { y = 0, height = 0 } = (await facts.boundingBox()) ?? {}
    expect(y + height).toBeLessThan(NARROW.height / 2)
    await facts.getByRole('button').click()
    const dialog = page.getByRole('dialog', { name: 'Settings in force' })
    expect(await dialog.locator('dl').first().textContent()).toBe(
      'OTHER_URLhttps://a.example/...SOME_KEYsecret',
    )
    const others = dialog.locator('dl').last()
    expect(await others.isVisible()).toBe(false)
    await dialog.getByText('2 as by default').click()
    expect(await others.textContent()).toBe('UNSET_KEYnot setMAX_FILES100000')
    answer.last_backup = null
    await page.reload()
    await facts.getByText('Last backup: none').waitFor()
    answer.free_disk = { database: null, objects: null }
    await page.reload()
    await facts.waitFor()
    expect(await facts.textContent()).toBe('Version 1.2.3Up for 3 dSettings (2 set)')
  })

  it('tells how the figures have grown, what webhooks wait for, and why it cannot be read', async () => {
    const day = (date: string, used: number) => ({ date, users: 1, files: 1, used })
    const page = await visitAdmin({
      browser: browser(),
      service,
      // West of the days of the figures.
      timezoneId: 'America/Los_Angeles',
    })
    let answer: object | undefined
    await page.route('**/admin/overview', async (route) => {
      if (answer === undefined) return await route.fulfill({ status: 500 })
      const response = await route.fetch()
      const json = { ...((await response.json()) as object), ...answer }
      await route.fulfill({ response, json })
    })
    await signIn(page, ADMIN_TOKEN)
    await page.getByRole('main').getByRole('alert').waitFor()
    answer = {
      taken_at: '2026-11-03T12:00:00.000Z',
      used: 4096,
      growth: [day('2026-11-01', 1024), day('2026-11-03', 8192)],
      webhooks: { parked: 2, waiting: 1500 },
    }
    await page.reload()
    const growth = page.getByRole('region', { name: 'Last 30 days' })
    const name = 'Stored in the last 30 days, from 1 KiB to 4 KiB'
    await growth.getByRole('img', { name }).waitFor()
    expect(await growth.textContent()).toContain('+3 KiB')
    expect(await growth.textContent()).toContain('Users')
    const [stored = ''] = await growth.locator('.plot').allTextContents()
    expect(stored).toBe('8 KiB4 KiB0Nov 1Nov 2Nov 3')
    const figures = await page.getByRole('main').locator('dl').textContent()
    expect(figures).toContain('Events to deliver1,5002 not delivered')
    expect(await page.getByText('The clock is ahead').count()).toBe(0)
    await page.route('**/metrics', async (route) => {
      const response = await route.fetch()
      const lead = 'cloud_repository_clock_lead_seconds 7200\n'
      await route.fulfill({ response, body: (await response.text()) + lead })
    })
    answer = { growth: [] }
    await page.reload()
    await growth.getByText('The charts begin tomorrow.').waitFor()
    await page.getByRole('main').getByText('The clock is ahead by 2 h 0 min').waitFor()
  })
})
