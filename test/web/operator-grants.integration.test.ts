import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService } from '../support/test-service.ts'
import { describeInBrowser } from './fixture.ts'
import { openWithOperatorPage, visitAsOperator } from './operator-fixture.ts'

describeInBrowser('the capacity of a user, as the operator sees it', (browser) => {
  let service: TestService
  beforeAll(async () => {
    service = await openWithOperatorPage()
  })
  afterAll(() => service?.stop())

  it('has the colour of its state, in the list and in the record', async () => {
    const colours = new Set<string>()
    for (const used of [200, 9500, 9950]) {
      const user = await service.createUser(9000)
      await upload(service, { user, name: 'a.bin', content: 'x'.repeat(used) })
      const { page, context } = await visitAsOperator({ browser: browser(), service })
      const row = page.getByRole('row').filter({ hasText: user.userId })
      await row.waitFor()
      const listed = await colourOf(page, `tr:has([title="${user.userId}"]) .bar span`)
      await page.getByRole('link', { name: user.userId }).click()
      await page.getByRole('heading', { name: 'Access tokens' }).waitFor()
      expect(await colourOf(page, '.meter-used')).toBe(listed)
      colours.add(listed)
      await context.close()
    }
    expect(colours.size).toBe(3)
  })
})

async function colourOf(page: Page, selector: string): Promise<string> {
  const element = `document.querySelector(${JSON.stringify(selector)})`
  return String(await page.evaluate(`getComputedStyle(${element}).backgroundColor`))
}
