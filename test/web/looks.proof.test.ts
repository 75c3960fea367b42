import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { upload } from '../http/fixture.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { actOn, NARROW, violationsIn, WIDE } from './looks.ts'
import {
  describeInBrowser,
  openPage,
  openWithPage,
  pick,
  secretOf,
  uploaded,
  type Visit,
} from './fixture.ts'
import { beginUpload } from '../support/http/tus-client.ts'

const FILES = {
  'Beach at dawn.jpg': 500_000,
  'Contract (signed).pdf': 120_000,
  'backup.zip': 64_000,
  'budget.xlsx': 90_000,
  'demo.mp4': 900_000,
  'notes.md': 300,
  'song.flac': 400_000,
} as const

describeInBrowser('each view', (browser) => {
  describe.each([
    ['light', WIDE],
    ['dark', WIDE],
    ['light', NARROW],
    ['dark', NARROW],
  ] as const)('%s, %j', (colorScheme, viewport) => {
    let service: TestService
    let user: TestUser
    let opened: Visit
    beforeAll(async () => {
      service = await openWithPage({ historyLifetimeMs: 30 * 24 * 3_600_000 })
      user = await service.createUser(2_400_000)
      const device = { source: 'device', reference: 'Living room camera', model: 'camera-2' }
      const period = { startsAt: undefined, endsAt: undefined }
      await service.users.putGrant({ userId: user.userId, bytes: 600_000, ...device, ...period })
      for (const [name, size] of Object.entries(FILES)) {
        await upload(service, { user, name, content: Buffer.alloc(size) })
      }
      // What moves is not judged before it has come to rest.
      const still = { reducedMotion: 'reduce' } as const
      opened = await openPage({ browser: browser(), service, colorScheme, viewport, ...still })
    })
    afterAll(async () => {
      await opened?.page.context().close()
      await service?.stop()
    })

    /** Asks axe what keeps whom from using what the page shows. */
    async function expectAccessible(view: string): Promise<void> {
      const { page, expectClean } = opened
      expect({ view, found: await violationsIn(page) }).toEqual({ view, found: [] })
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
      expect({ view, width }).toEqual({ view, width: viewport.width })
      expectClean()
    }

    const act = (action: string, name: string) => actOn(opened.page, { action, name })

    it('signing in looks right', async () => {
      const { page } = opened
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await expectAccessible('sign-in')
      await page.getByLabel('Access token', { exact: true }).fill('crt_mistyped')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
      await expectAccessible('sign-in-refused')
      await page.getByLabel('Access token', { exact: true }).fill(secretOf(user))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('notes.md').waitFor()
      await expectAccessible('list')
    })

    it('a file looks right', async () => {
      const { page } = opened
      await act('Share', 'notes.md')
      await page.getByText('Advanced').click()
      await page.getByRole('radio', { name: /^Public/ }).check()
      await expectAccessible('share')
      await page.keyboard.press('Escape')
      await act('Rename', 'notes.md')
      await page.getByLabel('New name').fill('demo.mp4')
      await page.getByRole('button', { name: 'Rename', exact: true }).click()
      await page.getByText('already exists').waitFor()
      await expectAccessible('rename')
      await page.keyboard.press('Escape')
    })

    it('the grid and a file in the viewer look right', async () => {
      const { page } = opened
      await page.getByRole('button', { name: 'Show as a grid' }).click()
      await page.locator('.tile').first().waitFor()
      await expectAccessible('grid')
      await page.getByRole('gridcell', { name: 'Beach at dawn.jpg' }).click()
      await page.getByText('cannot be shown here').waitFor()
      await expectAccessible('viewer')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Show as a list' }).click()
      await page.locator('.row .name').first().waitFor()
    })

    it('selected files look right, also from right to left', async () => {
      const { page } = opened
      await page.locator('[data-index]', { hasText: 'notes.md' }).focus()
      await page.keyboard.press('Space')
      await page.keyboard.press('Shift+ArrowUp')
      const bar = page.getByRole('group', { name: 'Selected files' })
      await bar.getByText('2 selected', { exact: true }).waitFor()
      await expectAccessible('selection')
      await page.evaluate(`document.documentElement.dir = 'rtl'`)
      await expectAccessible('selection-rtl')
      await bar.getByRole('button', { name: 'Move', exact: true }).click()
      await page.getByText('There are no folders in here.').waitFor()
      await expectAccessible('selection-move-rtl')
      await page.evaluate(`document.documentElement.dir = 'ltr'`)
      await expectAccessible('selection-move')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'End the selection' }).click()
    })

    it('a search that finds nothing looks right', async () => {
      const { page } = opened
      await page.getByRole('searchbox').fill('zebra')
      await page.getByText('No name contains').waitFor()
      await expectAccessible('nothing-found')
      await page.getByRole('searchbox').fill('')
      await page.getByText('notes.md').waitFor()
    })

    it('uploads and a full repository look right', async () => {
      const { page } = opened
      await pick(page, [
        { path: 'minutes.txt', content: 'x'.repeat(1000) },
        { path: 'notes.md', content: 'y' },
        { path: 'holiday.mov', content: Buffer.alloc(2_000_000) },
        { path: 'wedding.mov', content: Buffer.alloc(2_500_000) },
      ])
      await page.getByText('Not enough space for 2 files').waitFor()
      await expectAccessible('uploads')
      await page.getByRole('button', { name: 'Show less' }).click()
      await act('Delete', 'budget.xlsx')
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      await expectAccessible('undo')
    })

    it('interrupted uploads look right', async () => {
      const { page } = opened
      for (const name of ['concert.mov', 'An interview of an hour, in one take.mov']) {
        const content = 'x'.repeat(600)
        await beginUpload(service, { cookie: user.cookie, name, length: 1000, content })
      }
      await page.reload()
      await page.getByText('2 uploads were interrupted.').waitFor()
      await expectAccessible('interrupted')
      await pick(page, [{ path: 'concert.mov', content: 'x'.repeat(1000) }])
      await page.getByText('The file may have changed').waitFor()
      await expectAccessible('interrupted-differs')
      await page.getByRole('button', { name: 'Start over' }).click()
      await uploaded(page, 1)
    })

    it('deleted and earlier versions look right', async () => {
      const { page } = opened
      for (const size of [250, 400]) {
        await upload(service, { user, name: 'notes.md', content: Buffer.alloc(size) })
      }
      await page.reload()
      const open = page.getByRole('button', { name: 'Deleted and earlier versions' })
      await open.click()
      await page.getByRole('button', { name: 'Restore budget.xlsx' }).waitFor()
      await expectAccessible('history')
      await page.getByRole('button', { name: 'Restore notes.md' }).first().click()
      await page.getByText('already exists').waitFor()
      await expectAccessible('history-replace')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Delete all for good' }).click()
      await page.getByRole('dialog').waitFor()
      await expectAccessible('history-purge')
      await page.getByRole('dialog').getByRole('button', { name: 'Delete all' }).click()
      await page.getByText('Nothing to restore').waitFor()
      await expectAccessible('history-empty')
      await page.getByRole('button', { name: 'All files' }).click()
      await upload(service, { user, name: 'notes.md', content: 'x' })
      await act('Earlier versions', 'notes.md')
      await page.getByRole('button', { name: 'Restore notes.md' }).waitFor()
      await expectAccessible('history-of-one')
      await page.getByRole('button', { name: 'All files' }).click()
    })

    it('a repository over its capacity looks right', async () => {
      const { page } = opened
      await service.setCapacity(user, 900_000)
      await page.reload()
      await page.getByText(/Over capacity by/).waitFor()
      await expectAccessible('exceeded')
    })

    it('a link that would sign in looks right', async () => {
      const { page } = opened
      await page.goto(`${service.url}/#access_token=${secretOf(user)}`)
      await page.getByRole('heading', { name: 'Sign in with this link?' }).waitFor()
      await expectAccessible('link')
    })
  })
})
