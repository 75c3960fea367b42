import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { MIB, secretOf, upload } from '../http/fixture.ts'
import { createLink } from '../http/links/link-requests.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { describeInBrowser, openWithPage, visit } from './fixture.ts'
import { expectSound, smallTargets, TOUCH } from './looks.ts'
import { drawScenes, withExif } from './photos.ts'

describeInBrowser('photos of a link', (browser) => {
  let service: TestService
  let user: TestUser
  let photos: Record<'embedded' | 'plain', Buffer>
  beforeAll(async () => {
    service = await openWithPage()
    const [photo, small] = await drawScenes(browser(), [
      { width: 1200, height: 900, hue: 30 },
      { width: 160, height: 120, hue: 30 },
    ])
    if (photo === undefined || small === undefined) throw new Error()
    // What follows the end of a JPEG is not shown, but makes it as large as photos are.
    const large = Buffer.concat([photo, Buffer.alloc(400 * 1024)])
    photos = { embedded: withExif(large, { thumbnail: small }), plain: photo }
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(64 * MIB)
    await upload(service, { user, name: 'Trip/IMG_1.jpg', content: photos.embedded })
    await upload(service, { user, name: 'Trip/IMG_2.jpg', content: photos.plain })
    await upload(service, { user, name: 'Trip/IMG_10.jpg', content: 'no photo' })
    await upload(service, { user, name: 'Trip/notes.txt', content: 'Notes' })
  })

  async function openLink(terms: object = {}): Promise<{ page: Page; requests: string[] }> {
    const { secret } = await createLink(service, {
      token: secretOf(user),
      kind: 'download',
      prefix: 'Trip/',
      ...terms,
    })
    const requests: string[] = []
    const prepare = (page: Page) =>
      page.on('request', (request) => {
        const name = new URL(request.url()).pathname.split('/').at(-1) ?? ''
        if (name.endsWith('.jpg')) requests.push(`${name} ${request.headers()['range'] ?? ''}`)
      })
    const path = `/links/${secret}`
    return { page: await visit({ browser: browser(), service, path, prepare, ...TOUCH }), requests }
  }

  it('are a grid with previews of their beginnings, which open by their names', async () => {
    const { page, requests } = await openLink()
    const shown = page.locator('.photo img')
    await expect.poll(() => shown.count()).toBe(2)
    expect(await page.locator('.visit-name bdi').allTextContents()).toEqual([
      'IMG_1.jpg',
      'IMG_2.jpg',
      'IMG_10.jpg',
      'notes.txt',
    ])
    expect(requests.filter((request) => request.startsWith('IMG_1.jpg'))).toEqual([
      'IMG_1.jpg bytes=0-131071',
    ])
    await expectSound(page)
    expect(await smallTargets(page)).toEqual([])
    await page.getByText('IMG_1.jpg').tap()
    const dialog = page.getByRole('dialog', { name: 'IMG_1.jpg' })
    await dialog.getByRole('img', { name: 'IMG_1.jpg' }).waitFor()
    await expectSound(page)
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('button', { name: 'Next photo' }).tap()
    await page.getByRole('dialog', { name: 'IMG_2.jpg' }).getByRole('img').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog').getByText('cannot show this file').waitFor()
    await page.keyboard.press('ArrowRight')
    await dialog.getByRole('img', { name: 'IMG_1.jpg' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('dialog').getByText('cannot show this file').waitFor()
    await page.getByRole('button', { name: 'Close' }).tap()
    await page.getByText('notes.txt').tap()
    await page.getByRole('dialog').getByText('Notes', { exact: true }).waitFor()
  })

  it('turn as often as a key is pressed, and never show one under the name of another', async () => {
    const { page } = await openLink()
    await page.getByText('IMG_1.jpg').tap()
    await page.getByRole('dialog').getByRole('img', { name: 'IMG_1.jpg' }).waitFor()
    // Never answered.
    await page.route(/IMG_2\.jpg$/, () => undefined)
    const titles = await page.evaluate(`(async () => {
      const titles = []
      for (let turn = 0; turn < 2; turn += 1) {
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))
        await new Promise((resolve) => setTimeout(resolve))
        const shown = document.querySelector('dialog img')?.alt
        titles.push([document.querySelector('dialog h2').textContent, shown])
      }
      return titles
    })()`)
    expect(titles).toEqual([
      ['IMG_2.jpg', undefined],
      ['IMG_10.jpg', undefined],
    ])
    const begun = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('link', { name: 'Download IMG_10.jpg' }).tap()
    expect((await begun).suggestedFilename()).toBe('IMG_10.jpg')
  })

  it('are rows without previews where each would take a part of a use', async () => {
    const { page, requests } = await openLink({ max_uses: 5 })
    await page.getByText('5 downloads are possible.').waitFor()
    await page.getByText('IMG_1.jpg').waitFor()
    expect(await page.locator('.photo').count()).toBe(0)
    await page.reload()
    await page.getByText('5 downloads are possible.').waitFor()
    expect(requests).toEqual([])
  })
})
