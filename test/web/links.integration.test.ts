import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { crc32, deflateSync } from 'node:zlib'
import { DEFAULT_PAGE_LIMIT } from '../../src/core/pagination.ts'
import { createLink } from '../http/links/link-requests.ts'
import { uploadAll } from '../http/file-requests.ts'
import { download, MIB, secretOf, upload } from '../http/fixture.ts'
import { createFolder } from '../support/servers/local-server.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  hold,
  openWithPage,
  pickIn,
  seenRequests,
  visit,
  visitAs,
} from './fixture.ts'
import { expectSound } from './looks.ts'

/** As many as the page is sure of. */
const MAX_ARCHIVED = DEFAULT_PAGE_LIMIT

describeInBrowser('links', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithPage({ maxFileSize: 64 * MIB, maxArchivedFiles: MAX_ARCHIVED })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(64 * MIB)
  })

  const make = (terms: { readonly kind: string; readonly [term: string]: unknown }) =>
    createLink(service, { token: secretOf(user), ...terms })
  const visitLink = (path: string) => visit({ browser: browser(), service, path })
  const put = (name: string, content: string | Uint8Array) =>
    upload(service, { user, name, content })

  it('give files, with a preview of those that are safe to show', async () => {
    await put('in-a.txt', '<b>plain</b>')
    await put('in-b.png', onePixel())
    await put('in-c.svg', '<svg onload="alert(1)"/>')
    const { secret } = await make({ kind: 'download', prefix: 'in-', label: 'The <i>trip</i>' })
    const page = await visitLink(`/links/${secret}`)
    await page.getByRole('heading', { name: 'The <i>trip</i>' }).waitFor()
    expect(await page.locator('.visit-name bdi').allTextContents()).toEqual([
      'b.png',
      'a.txt',
      'c.svg',
    ])
    await expectSound(page)
    await page.getByRole('button', { name: 'Preview a.txt' }).click()
    await page.getByText('<b>plain</b>').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Preview b.png' }).click()
    const image = page.getByRole('img', { name: 'b.png' })
    await image.waitFor()
    const width = () => page.evaluate('document.querySelector(".preview-image").naturalWidth')
    await expect.poll(width).toBe(1)
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await page.getByRole('button', { name: 'Preview c.svg' }).count()).toBe(0)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download a.txt' }).click()
    expect((await downloading).suggestedFilename()).toBe('a.txt')
    const downloadingAll = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download all (' }).click()
    expect((await downloadingAll).suggestedFilename()).toBe('files.zip')
  })

  it('say that their files are too many for one archive', async () => {
    const names = Array.from({ length: MAX_ARCHIVED + 1 }, (_, at) => `f${at}`)
    await uploadAll(service, { user, names })
    const { secret } = await make({ kind: 'download', prefix: '' })
    const page = await visitLink(`/links/${secret}`)
    const all = page.getByRole('link', { name: 'Download all (' })
    await all.click()
    await page.getByRole('alert').getByText('too many files for one archive').waitFor()
    await page.route('**/*?format=zip', (route) => route.fulfill({ status: 503 }))
    await all.click()
    await page.getByRole('alert').getByText('Something went wrong.').waitFor()
    expect(await page.locator('.visit-file').count()).toBe(MAX_ARCHIVED + 1)
  })

  it('ask for their password, and keep it for this link', async () => {
    await put('f', 'content')
    const { secret } = await make({
      kind: 'download',
      name: 'f',
      password: 'swordfish',
      max_uses: 5,
    })
    const page = await visitLink(`/links/${secret}`)
    await page.getByLabel('Password').fill('trout')
    await expectSound(page)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('alert').getByText('not the password').waitFor()
    await page.getByLabel('Password').fill('swordfish')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('5 downloads are possible.').waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Download f' }).waitFor()
    // It would take a use.
    expect(await page.getByRole('button', { name: /Preview/ }).count()).toBe(0)
  })

  it('take files, large ones too, and say what was not taken', async () => {
    await put('in-taken', 'old')
    const { secret } = await make({ kind: 'drop', prefix: 'in-' })
    const page = await visitLink(`/links/${secret}`)
    const large = randomBytes(17 * MIB)
    await pickIn(page.getByLabel('Choose files'), [
      { path: 'small.txt', content: 'small' },
      { path: 'taken', content: 'new' },
      { path: 'large.bin', content: large },
    ])
    await page.getByText('2 files sent.').waitFor({ timeout: 60_000 })
    await page.getByText('already sent').waitFor()
    await expectSound(page)
    expect((await download(service, { user, name: 'in-large.bin' })).body.equals(large)).toBe(true)
    expect((await download(service, { user, name: 'in-small.txt' })).body.toString()).toBe('small')
    expect((await download(service, { user, name: 'in-taken' })).body.toString()).toBe('old')
  })

  it('count what they take, and keep telling what was sent when they take no more', async () => {
    const { secret } = await make({ kind: 'drop', prefix: '', max_uses: 2 })
    const page = await visitLink(`/links/${secret}`)
    await page.getByText('It takes up to 2 more files, 1 GiB in all.').waitFor()
    const field = page.getByLabel('Choose files')
    await pickIn(field, [{ path: 'a', content: 'a' }])
    await page.getByText('It takes one more file, 0.99 GiB at most.').waitFor()
    await pickIn(field, [{ path: 'b', content: 'b' }])
    await page.getByText('It takes no more files.').waitFor()
    expect(await page.locator('.said').textContent()).toBe('2 files sent.')
    expect(await field.count()).toBe(0)
  })

  it('say how much they still take, and keep what is dropped later from replacing the page', async () => {
    const { secret } = await make({ kind: 'drop', prefix: '', max_files: 2, max_bytes: 1000 })
    const page = await visitLink(`/links/${secret}`)
    await page.getByText('It takes up to 2 more files, 1000 bytes in all.').waitFor()
    const field = page.getByLabel('Choose files')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await pickIn(field, [{ path: 'large', content: 'x'.repeat(2000) }])
    await page.getByText('or not one of this size').waitFor()
    expect(sent.filter((url) => url.endsWith('/large'))).toEqual([])
    await pickIn(field, [{ path: 'a', content: 'x'.repeat(100) }])
    await page.getByText('It takes one more file, 900 bytes at most.').waitFor()
    await pickIn(field, [{ path: 'b', content: 'b' }])
    await page.getByText('This link takes no more files.').waitFor()
    await expectSound(page)
    const place = await createFolder('drop')
    onTestFinished(() => place.remove())
    await writeFile(join(place.path, 'late.txt'), 'late')
    const detach = await hold(page, [join(place.path, 'late.txt')])
    await detach()
    await seenRequests(page)
    expect(page.url()).toContain(secret)
    expect((await download(service, { user, name: 'late.txt' })).status).toBe(404)
  })

  it('take no more than the service lets them, and say which limit is above that', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Links and devices' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Send you files').click()
    const create = dialog.getByRole('button', { name: 'Create', exact: true })
    await dialog.getByLabel('Most space').fill('200')
    await create.click()
    await dialog.getByText('“Most space” is more than this service lets a link take.').waitFor()
    await dialog.getByLabel('Most space').fill('')
    await dialog.getByLabel('Most files').fill('1000000')
    await create.click()
    await dialog.getByText('“Most files” is more than this service lets a link take.').waitFor()
    await dialog.getByLabel('Most files').fill('')
    await create.click()
    const created = page.getByRole('heading', { name: 'Link created' })
    await expect.poll(() => created.count()).toBe(1)
  })

  it('are changed, say what they have received, and get a new secret', async () => {
    const { secret } = await make({ kind: 'drop', prefix: 'in/', max_files: 5, label: 'Party' })
    await fetch(`${service.url}/links/${secret}/a`, { method: 'PUT', body: 'a' })
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Links and devices' }).click()
    const entry = page.getByRole('listitem').filter({ hasText: 'Party' })
    await entry.getByText('1 of 5 files received').waitFor()
    await page.getByRole('button', { name: 'Edit the link Party' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit link' })
    await dialog.getByText('1 file received.').waitFor()
    await expectSound(page)
    await dialog.getByLabel('Most files').fill('3')
    await dialog.getByLabel('Title (optional)').fill('The party')
    await dialog.getByLabel('Password (optional)').fill('swordfish')
    await dialog.getByRole('radio', { name: '30 days' }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('1 of 3 files received').waitFor()
    const changed = page.getByRole('listitem').filter({ hasText: 'The party' })
    expect(await changed.textContent()).toContain('with a password')
    expect(await changed.textContent()).toMatch(/valid until (?!revoked)/)
    const statusOf = async (of: string) => (await fetch(`${service.url}/links/${of}`)).status
    expect(await statusOf(secret)).toBe(200)
    await page.getByRole('button', { name: 'Edit the link The party' }).click()
    await dialog.getByRole('checkbox', { name: /^No password/ }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await changed.getByText('with a password').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit the link The party' }).click()
    await dialog.getByRole('button', { name: 'New address …' }).click()
    await page.getByText('The old address stops working at once').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'New address' }).click()
    const address = await page.getByLabel('Link', { exact: true }).inputValue()
    expect(await statusOf(secret)).toBe(404)
    expect(await statusOf(address.split('/').at(-1) ?? '')).toBe(200)
  })

  it('links that have ended say so', async () => {
    const path = `/links/crl_${'x'.repeat(43)}`
    const { status } = await fetch(`${service.url}${path}`, { headers: { accept: 'text/html' } })
    expect(status).toBe(404)
    const page = await visitLink(path)
    await page.getByRole('heading', { name: 'This link has ended' }).waitFor()
    await expectSound(page)
  })

  it('are made for a file, listed and revoked by its owner', async () => {
    await put('report.pdf', 'content')
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Share report.pdf' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share' })
    expect(await dialog.getByRole('radio', { checked: true }).first().isChecked()).toBe(true)
    await dialog.getByText('Password and more').click()
    await page.getByLabel('Title (optional)').fill('The report')
    await page.getByLabel('Most downloads (optional)').fill('2')
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const address = await dialog.getByLabel('Link', { exact: true }).inputValue()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toBe('Copy link')
    // A week is preselected, and the link is listed.
    const listed = dialog.getByRole('listitem').filter({ hasText: 'The report' })
    expect(await listed.textContent()).toMatch(/valid until (?!revoked)/)
    await dialog.getByRole('button', { name: 'Show as a QR code' }).click()
    await dialog.getByRole('img', { name: 'QR code of the link' }).waitFor()
    await expectSound(page)
    const visitor = await visitLink(new URL(address).pathname)
    await visitor.getByRole('heading', { name: 'The report' }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Links and devices' }).click()
    const entry = page.getByRole('listitem').filter({ hasText: 'The report' })
    expect(await entry.textContent()).toContain('2 uses left')
    await expectSound(page)
    await page.getByRole('button', { name: 'Revoke the link The report' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await entry.waitFor({ state: 'detached' })
    // Its row had it.
    await expect.poll(focused).toBe('Links for people without an account')
    await visitor.reload()
    await visitor.getByRole('heading', { name: 'This link has ended' }).waitFor()
  })

  it('are made to receive files, in a folder', async () => {
    const page = await visitAs({ browser: browser(), service, user })
    await page.getByRole('button', { name: 'Links and devices' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    await page.getByRole('radio', { name: /^Send you files/ }).check()
    await page.getByLabel('Folder (optional)').fill('Party')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const created = page.getByRole('dialog', { name: 'Link created' })
    const address = await created.getByLabel('Link', { exact: true }).inputValue()
    const visitor = await visitLink(new URL(address).pathname)
    await pickIn(visitor.getByLabel('Choose files'), [{ path: 'a', content: 'a' }])
    await visitor.getByText('1 file sent.').waitFor()
    expect((await download(service, { user, name: 'Party/a' })).body.toString()).toBe('a')
    await created.getByRole('button', { name: 'Close' }).click()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toBe('Create a link')
    // Links without a title are told apart.
    await page.getByRole('button', { name: 'Revoke the link Party, receives files' }).click()
    await page.getByRole('dialog').getByText('Party, receives files').waitFor()
  })

  it('are not the only thing that ends: a file is kept, and expires', async () => {
    await put('clip.mp4', 'content')
    const page = await visitAs({ browser: browser(), service, user })
    const stay = page.getByRole('button', { name: 'Automatic deletion of clip.mp4' })
    await stay.waitFor()
    const asUser = (path: string, init: RequestInit = {}) =>
      fetch(`${service.url}/users/me/repo${path}`, {
        ...init,
        headers: { 'Content-Type': 'application/json', Cookie: user.cookie },
      })
    const file = async () => {
      const listing = (await (await asUser('')).json()) as {
        readonly files: readonly [{ readonly keep: boolean; readonly expires_at: string }]
      }
      return listing.files[0]
    }
    const save = async () => {
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    const expires_at = '2098-06-01T12:34:56.000Z'
    await asUser('/clip.mp4', { method: 'PATCH', body: JSON.stringify({ expires_at }) })
    await stay.click()
    await page.getByRole('checkbox', { name: /^Keep it/ }).check()
    await save()
    expect(await file()).toMatchObject({ keep: true, expires_at })
    await asUser('/clip.mp4', { method: 'PATCH', body: JSON.stringify({ keep: false }) })
    await stay.click()
    await page.getByLabel('Deleted automatically on').fill('2099-12-31')
    await expectSound(page)
    await save()
    const { keep, expires_at: ends } = await file()
    expect(keep).toBe(false)
    expect(ends).toMatch(/^(2099-12-31|2100-01-01)T/)
  })
})

/** A PNG (https://www.w3.org/TR/png-3/) of one grey pixel. */
function onePixel(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  }
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, 128]))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
