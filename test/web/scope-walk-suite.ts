import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MIB, upload } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import type { TestService } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, pick, seenRequests, visit } from './fixture.ts'
import { actOn } from './looks.ts'

export interface WalkedScope {
  readonly actions: readonly string[]
  readonly prefix?: 'in-'
}

/** Uses all that the page offers to a token of each scope, of which the service must refuse nothing. */
export function scopeWalkSuite(scopes: readonly WalkedScope[]): void {
  describeInBrowser('a session of a token with a scope', (browser) => {
    let service: TestService
    beforeAll(async () => {
      service = await openWithPage({ historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service?.stop())

    it.each(scopes)('%j: offers nothing that is refused', async (scope) => {
      const user = await service.createUser(64 * MIB)
      for (const [name, content] of [
        ['in-a', 'old'],
        ['in-a', 'new'],
        ['out-z', 'x'],
      ] as const) {
        await upload(service, { user, name, content })
      }
      const cookie = `access_token=${await issue(service, user, scope)}`
      const refused: string[] = []
      const prepare = (tab: Page) =>
        tab.on('response', (response) => {
          if (response.status() === 403) refused.push(response.url())
        })
      const page = await visit({ browser: browser(), service, user: { ...user, cookie }, prepare })
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
      await walk(page, scope.prefix === undefined)
      expect(refused).toEqual([])
    })
  })
}

/** Uses all that the page offers, with a resumable upload if `hasLarge`. */
async function walk(page: Page, hasLarge: boolean): Promise<void> {
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const dialog = page.getByRole('dialog')
  async function answer(name: string): Promise<void> {
    await dialog.getByRole('button', { name }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  const has = async (name: string | RegExp) => (await button(name).count()) > 0

  if (await has('Upload files')) {
    const content = Buffer.alloc(hasLarge ? 17 * MIB : 17)
    await pick(page, [
      { path: 'in-a', content: 'x' },
      { path: 'one', content: 'x' },
      { path: 'large', content },
    ])
    const over = page.getByRole('heading', { name: /a decision|uploaded/ })
    await over.first().waitFor()
    if (await has(/^Replace all/)) await button(/^Replace all/).click()
    else if (await has('Replace')) await button('Replace').first().click()
    await over.first().waitFor()
    await button('Clear list').click()
  }
  if ((await page.getByRole('searchbox').count()) > 0) {
    await page.locator('.row .name').first().waitFor()
    for (const [text, query] of [
      ['a', /^(?=.*contains=a)/],
      ['', /^(?!.*contains=)/],
    ] as const) {
      // Another listing of what is shown can be on its way.
      const found = page.waitForResponse((response) => {
        const { pathname, search } = new URL(response.url())
        return pathname === '/users/me/repo' && query.test(search)
      })
      await page.getByRole('searchbox').fill(text)
      await found
    }
    await page.getByRole('combobox').selectOption('-size')
    await page.locator('.table[aria-busy=false]').waitFor()
  }
  for (const name of await page.locator('.row .name').allTextContents()) {
    const row = page.getByRole('row', { name })
    if ((await row.getByTitle('Share').count()) > 0) {
      await actOn(page, { action: 'Share', name })
      await page.getByText('Advanced').click()
      await page.getByRole('radio', { name: /^All users/ }).check()
      await answer('Close')
    }
    if ((await row.getByTitle('Automatic deletion').count()) > 0) {
      await actOn(page, { action: 'Automatic deletion', name })
      await page.getByRole('checkbox', { name: /^Keep it/ }).check()
      await answer('Save')
    }
    if ((await row.getByTitle('Earlier versions').count()) > 0) {
      await actOn(page, { action: 'Earlier versions', name })
      await button('All files').click()
      await row.waitFor()
    }
    if ((await row.getByTitle('Rename').count()) > 0) {
      await actOn(page, { action: 'Rename', name })
      await page.getByLabel('New name').fill(`${name}.renamed`)
      await answer('Rename')
    }
  }
  const [first] = await page.locator('.row .name').allTextContents()
  if (first !== undefined && (await page.getByTitle('Delete', { exact: true }).count()) > 0) {
    await actOn(page, { action: 'Delete', name: first })
    await page.getByText(/was deleted/).waitFor()
    // That of the last renaming may still be shown.
    if (await has('Undo')) await button('Undo').last().click()
  }
  if (await has('Deleted and earlier versions')) {
    await button('Deleted and earlier versions').click()
    await page.getByRole('heading', { name: 'Deleted and earlier versions' }).waitFor()
    if (await has(/^Restore/)) {
      await button(/^Restore/)
        .first()
        .click()
      const said = page.getByText(/restored|Replace the current/).filter({ visible: true })
      await said.first().waitFor()
      if (await has('Replace it')) await answer('Replace it')
    }
    await button('All files').click()
  }
  if (await has('Links and devices')) {
    await button('Links and devices').click()
    await button('Connect a device').click()
    await dialog.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('heading', { name: 'Token issued' }).waitFor()
    await answer('Close')
    if (await has('Create a link')) {
      await button('Create a link').click()
      await dialog.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('heading', { name: 'Link created' }).waitFor()
      await answer('Close')
    }
  }
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await seenRequests(page)
}
