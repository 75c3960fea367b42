import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { parseScope } from '../../src/core/auth/scope.ts'
import { MIB, upload, usageOf } from '../http/fixture.ts'
import { issue } from '../http/scopes/scoped-requests.ts'
import { createFolder } from '../support/servers/local-server.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import {
  describeInBrowser,
  drop,
  hold,
  names,
  openWithPage,
  pick,
  seenRequests,
  uploaded,
  visit,
} from './fixture.ts'
import { actOn, expectSound, NARROW } from './looks.ts'

const UNSEEN = 'Your access token does not permit you to see the files.'

describeInBrowser('a session of a token with a scope', (browser) => {
  let service: TestService
  let user: TestUser
  let refused: string[]
  beforeAll(async () => {
    service = await openWithPage({ historyLifetimeMs: 3_600_000 })
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    user = await service.createUser(64 * MIB)
    refused = []
  })

  /** Opens the page, and fails at the end of the test for a request that the token did not permit. */
  async function open(scope: object, signed = issue(service, user, scope)): Promise<Page> {
    const cookie = `access_token=${await signed}`
    const signedIn = { ...user, cookie }
    const page = await visit({ browser: browser(), service, user: signedIn, prepare: watch })
    onTestFinished(() => expectPermitted(page))
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    return page
  }

  function watch(page: Page): void {
    page.on('response', (response) => {
      if (response.status() !== 403) return
      refused.push(`${response.request().method()} ${response.url()}`)
    })
  }

  /** Fails if the token did not permit a request. */
  async function expectPermitted(page: Page): Promise<void> {
    await seenRequests(page)
    expect(refused).toEqual([])
  }

  /** Fails if the service has not refused one upload, of which the page says that it does not fit. */
  function expectOneUploadRefused(): void {
    expect(refused.splice(0)).toEqual([expect.stringMatching(/^PUT /)])
  }

  async function fileOnDisk(): Promise<string> {
    const folder = await createFolder('drop')
    onTestFinished(() => folder.remove())
    const path = join(folder.path, 'dropped.txt')
    await writeFile(path, 'x')
    return path
  }

  const put = (name: string, content = 'x') => upload(service, { user, name, content })
  const rowOf = (page: Page, name: string) => page.getByRole('row', { name })
  const usage = () => usageOf(service, user)

  it('a token that may only create sees no files, and uploads some', async () => {
    await put('secret')
    const page = await open({ actions: ['create'] })
    await page.getByText(UNSEEN).waitFor()
    await page.getByText('Limited access').waitFor()
    await expectSound(page)
    await pick(page, [{ path: 'a.txt', content: 'new' }])
    await uploaded(page, 1)
    await pick(page, [{ path: 'a.txt', content: 'newer' }])
    await page.getByText('A file with this name already exists.').waitFor()
    expect(await page.getByRole('button', { name: 'Replace' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Keep both' }).click()
    await uploaded(page, 1)
    expect(await usage()).toMatchObject({ fileCount: 3 })
    expect(await page.getByText('secret').count()).toBe(0)
    for (const role of ['searchbox', 'combobox', 'grid', 'complementary'] as const) {
      expect(await page.getByRole(role).count()).toBe(0)
    }
    for (const name of ['Links and devices', 'Deleted and earlier versions']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    }
  })

  it('is begun with the form as well', async () => {
    const token = await issue(service, user, { actions: ['share'] })
    const page = await visit({ browser: browser(), service })
    await page.getByLabel('Access token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(UNSEEN).waitFor()
    expect(await page.locator('.user').textContent()).toContain(user.userId)
  })

  it('a token that has a prefix says so, and puts it in front of the names of new files', async () => {
    await put('cam1-old')
    await put('other')
    const page = await open({ actions: ['read', 'create'], prefix: 'cam1-' })
    await page.getByText('You see only files whose names begin with “cam1-”.').waitFor()
    await expect.poll(() => names(page)).toEqual(['cam1-old'])
    await expectSound(page)
    await pick(page, [
      { path: 'a.txt', content: 'new' },
      { path: 'cam1-b.txt', content: 'new' },
      { path: 'film.bin', content: Buffer.alloc(17 * MIB) },
    ])
    await uploaded(page, 3)
    await expect
      .poll(() => names(page))
      .toEqual(['cam1-a.txt', 'cam1-b.txt', 'cam1-film.bin', 'cam1-old'])
  })

  it('a token that has a prefix searches within it, and never outside', async () => {
    await put('cam1-2026')
    await put('cam1-2027')
    await put('2026')
    const page = await open({ actions: ['read'], prefix: 'cam1-' })
    for (const [sought, found] of [
      ['2026', ['cam1-2026']],
      ['cam1-2027', ['cam1-2027']],
      ['cam', ['cam1-2026', 'cam1-2027']],
      ['', ['cam1-2026', 'cam1-2027']],
    ] as const) {
      await page.getByRole('searchbox').fill(sought)
      await expect.poll(() => names(page)).toEqual(found)
    }
    await page.getByRole('searchbox').fill('zebra')
    await page.getByText('No name contains “zebra”').waitFor()
  })

  it('a token that may only read has no button, no key and no drop that changes anything', async () => {
    const page = await open({ actions: ['read'] })
    await page.getByText('Nothing here yet').waitFor()
    expect(await page.getByText('Drop files or a folder here').count()).toBe(0)
    await put('a.txt')
    const row = rowOf(page, 'a.txt')
    await row.waitFor()
    expect(await row.getByRole('button').allTextContents()).toEqual(['a.txt'])
    await row.focus()
    await page.keyboard.press('Delete')
    await page.keyboard.press('F2')
    const detach = await hold(page, [await fileOnDisk()])
    expect(await page.getByText('Drop to upload').count()).toBe(0)
    await detach()
    for (const name of ['Upload files', 'Upload a folder', 'Deleted and earlier versions']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    }
    await expectSound(page)
    await page.setViewportSize(NARROW)
    await page.getByRole('button', { name: 'Actions for a.txt' }).click()
    const choices = page.getByRole('dialog').locator('.choices > *')
    await expect.poll(() => choices.allTextContents()).toEqual(['Select', 'Download'])
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(await names(page)).toEqual(['a.txt'])
    expect(await page.locator('.uploads').count()).toBe(0)
    expect(await usage()).toMatchObject({ fileCount: 1 })
  })

  it('a token that may create takes what is dropped', async () => {
    const page = await open({ actions: ['create'], prefix: 'in-' })
    await drop(page, [await fileOnDisk()])
    await uploaded(page, 1)
    await page.getByRole('button', { name: 'Show all uploads' }).click()
    expect(await page.locator('.upload-name').textContent()).toBe('in-dropped.txt')
  })

  it('a token that may delete does, and is offered to undo that only with the history', async () => {
    await put('a.txt')
    await put('b.txt')
    const page = await open({ actions: ['read', 'delete', 'create'] })
    await actOn(page, { action: 'Delete', name: 'a.txt' })
    await page.getByText('“a.txt” was deleted.').waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    const other = await open({ actions: ['read', 'delete', 'create', 'history'] })
    await actOn(other, { action: 'Delete', name: 'b.txt' })
    await other.getByRole('button', { name: 'Undo' }).click()
    await rowOf(other, 'b.txt').waitFor()
  })

  it('is not offered to undo the deletion of a file that others could read, without sharing', async () => {
    await upload(service, { user, name: 'a.txt', content: 'x', query: '?visibility=users' })
    const page = await open({ actions: ['read', 'delete', 'create', 'history'] })
    await actOn(page, { action: 'Delete', name: 'a.txt' })
    await page.getByText('“a.txt” was deleted.').waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  it('a token that may delete and create renames within the prefix, and replaces nothing', async () => {
    await put('in-a')
    await put('in-b')
    const page = await open({ actions: ['read', 'delete', 'create'], prefix: 'in-' })
    await actOn(page, { action: 'Rename', name: 'in-a' })
    const name = page.getByLabel('New name')
    const rename = page.getByRole('dialog').getByRole('button', { name: 'Rename' })
    await name.fill('out')
    await rename.click()
    await page.getByText('only permits names that begin with “in-”').waitFor()
    await name.fill('in-b')
    await rename.click()
    await page.getByText('A file named “in-b” already exists.').waitFor()
    expect(await page.getByRole('button', { name: 'Replace it' }).count()).toBe(0)
    await name.fill('in-c')
    await rename.click()
    await expect.poll(() => names(page)).toEqual(['in-b', 'in-c'])
  })

  it.each([
    [['share'], ['Share']],
    [['delete'], ['Delete']],
    [['create'], []],
    [
      ['delete', 'replace'],
      ['Automatic deletion', 'Delete'],
    ],
    [
      ['delete', 'create'],
      ['Rename', 'Move', 'Delete'],
    ],
    [['history'], ['Earlier versions']],
  ])('a token that may read and %j offers for a file: %j', async (actions, offered) => {
    await put('a.txt')
    const page = await open({ actions: ['read', ...actions] })
    await rowOf(page, 'a.txt').waitFor()
    const buttons = await rowOf(page, 'a.txt').locator('button.wide-only').all()
    const titles = await Promise.all(buttons.map((button) => button.getAttribute('title')))
    expect(titles).toEqual(offered)
  })

  it('a token that may only replace and not read asks before it replaces what it does not see', async () => {
    await put('a.txt', 'old')
    const page = await open({ actions: ['replace'] })
    const replace = page.getByRole('button', { name: 'Replace' })
    await pick(page, [{ path: 'a.txt', content: 'longer' }])
    await page.getByText('This replaces the file with this name').waitFor()
    expect(await page.getByRole('button', { name: 'Keep both' }).count()).toBe(0)
    await replace.click()
    await uploaded(page, 1)
    expect(await usage()).toMatchObject({ fileCount: 1 })
    await pick(page, [{ path: 'none.txt', content: 'x' }])
    await replace.click()
    await page.getByText('only permits replacing files, and no file has this name').waitFor()
    expect(await usage()).toMatchObject({ fileCount: 1 })
  })

  it('a token that may create and replace, and not read, asks once the name proves to be taken', async () => {
    await put('a.txt', 'old')
    const page = await open({ actions: ['create', 'replace'] })
    for (const size of [5, 17 * MIB]) {
      await pick(page, [{ path: 'a.txt', content: Buffer.alloc(size) }])
      await page.getByText('A file with this name already exists.').waitFor()
      await page.getByRole('button', { name: 'Replace' }).click()
      await uploaded(page, 1)
      await page.getByRole('button', { name: 'Clear list' }).click()
    }
    expect(await usage()).toMatchObject({ fileCount: 1 })
  })

  it('a token that may read and replace replaces what it sees, and nothing else', async () => {
    await put('a.txt', 'old')
    const page = await open({ actions: ['read', 'replace'] })
    await pick(page, [{ path: 'a.txt', content: 'new' }])
    await page.getByText('A file with this name already exists.').waitFor()
    expect(await page.getByRole('button', { name: 'Keep both' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Replace' }).click()
    await uploaded(page, 1)
    await pick(page, [{ path: 'none.txt', content: 'x' }])
    await page.getByText('no file has this name').waitFor()
    expect(await usage()).toMatchObject({ fileCount: 1 })
  })

  it('a token that may not read is told when the repository is full', async () => {
    user = await service.createUser(10)
    const page = await open({ actions: ['create'] })
    await pick(page, [{ path: 'a.txt', content: 'x'.repeat(100) }])
    const state = page.locator('.upload-state')
    await expect.poll(() => state.textContent()).toContain('There is not enough space.')
    expectOneUploadRefused()
  })

  it('a token that makes room lets the service make it', async () => {
    user = await service.createUser(10)
    await put('in-old', 'x'.repeat(10))
    const scope = { actions: ['read', 'create'], prefix: 'in-', when_full: 'evict_oldest' }
    const page = await open(scope)
    await pick(page, [{ path: 'new', content: 'y'.repeat(10) }])
    await uploaded(page, 1)
    await expect.poll(() => names(page)).toEqual(['in-new'])
    await pick(page, [{ path: 'huge', content: 'y'.repeat(20) }])
    await page.getByText('Not enough space').waitFor()
    expectOneUploadRefused()
  })

  it('a token that may see the history restores only what it may upload', async () => {
    for (const content of ['old', 'new']) await put('in-a', content)
    const page = await open({ actions: ['history'] })
    await page.getByRole('button', { name: 'Deleted and earlier versions' }).click()
    await page.getByRole('button', { name: 'Delete all for good' }).waitFor()
    expect(await page.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
    await expectSound(page)
    const narrow = await open({ actions: ['history', 'create'], prefix: 'in-' })
    await narrow.getByRole('button', { name: 'Deleted and earlier versions' }).click()
    await narrow.getByRole('button', { name: /^Restore in-a/ }).click()
    await narrow.getByText('there is a file with this name again').waitFor()
    expect(await narrow.getByRole('button', { name: 'Delete all for good' }).count()).toBe(0)
    const replacing = await open({ actions: ['history', 'replace'] })
    await replacing.getByRole('button', { name: 'Deleted and earlier versions' }).click()
    await replacing.getByRole('button', { name: /^Restore in-a/ }).click()
    await replacing.getByRole('button', { name: 'Replace it' }).click()
    await replacing.getByText('“in-a” was restored.').waitFor()
  })

  it('a token that may share makes tokens and links that are no wider', async () => {
    await put('in-a')
    const expiresInSeconds = 2 * 24 * 3600
    const scope = parseScope({ actions: ['read', 'share'], prefix: 'in-' })
    const terms = { userId: user.userId, label: '', expiresInSeconds, scope }
    const { secret, expiresAt } = await service.accessTokens.issue(terms)
    const page = await open({}, Promise.resolve(secret))
    const limits = await page.locator('.limits').textContent()
    expect(limits).toMatch(/^Limited access ?until /)
    expect(expiresAt).toBeGreaterThan(Date.now())
    await expectSound(page)

    await page.getByRole('button', { name: 'Links and devices' }).click()
    await page.getByRole('button', { name: 'Connect a device' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    expect(await presetsOf(page)).toEqual(['Read files', 'Do as much as your own access token'])
    expect(await radiosOf(page, 'Valid')).toEqual([
      expect.stringMatching(/^Until .* at the latest/),
      '1 day',
    ])
    expect(await dialog.getByText('no more space').count()).toBe(0)
    await expectSound(page)
    await page.getByLabel('Its folder').fill('side')
    await dialog.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('heading', { name: 'Token issued' }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('folder “in-side”').waitFor()

    await page.getByRole('button', { name: 'Create a link' }).click()
    await dialog.waitFor()
    expect(await radiosOf(page, 'What people can do')).toEqual(['Download'])
    expect(await radiosOf(page, 'Ends after')).toEqual(['1 day', 'Never'])
    expect(await page.getByLabel('Folder').inputValue()).toBe('')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Link created' }).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('shares names that begin with “in-”').waitFor()

    await page.getByRole('button', { name: 'All files' }).click()
    await actOn(page, { action: 'Share', name: 'in-a' })
    await page.getByText('Advanced').click()
    await page.getByRole('radio', { name: /^All users/ }).check()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByLabel('Link', { exact: true }).waitFor()
  })

  it('a token that may share, and neither read nor create, makes no links', async () => {
    const page = await open({ actions: ['share'] })
    await page.getByRole('button', { name: 'Links and devices' }).click()
    await page.getByRole('heading', { name: 'Links for people without an account' }).waitFor()
    expect(await page.getByRole('button', { name: 'Create a link' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Connect a device' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await presetsOf(page)).toEqual(['Do as much as your own access token'])
    await page.getByRole('button', { name: 'Issue' }).click()
    await page.getByRole('heading', { name: 'Token issued' }).waitFor()
  })

  it('shows nothing of the one before, in no tab', async () => {
    await put('a.txt')
    const page = await open({ actions: ['read', 'create'] })
    await rowOf(page, 'a.txt').waitFor()
    const other = await page.context().newPage()
    await other.goto(service.url)
    const token = await issue(service, user, { actions: ['create'], prefix: 'in-' })
    await other.goto(`${service.url}/?new#access_token=${token}`)
    await other.getByRole('button', { name: 'Sign in with this link' }).click()
    for (const tab of [page, other]) await tab.getByText(UNSEEN).waitFor()
    expect(await page.getByRole('complementary').count()).toBe(0)
  })

  it('asks for itself once, and else as one of a token without a scope', async () => {
    const asked: string[] = []
    const prepare = (tab: Page) =>
      tab.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (pathname.startsWith('/users') || pathname === '/session') asked.push(pathname)
      })
    const page = await visit({ browser: browser(), service, user, prepare })
    await page.getByText('Nothing here yet').waitFor()
    await seenRequests(page)
    const all = ['/session', '/users/me/capacity', '/users/me/repo', '/users/me/changes']
    expect(asked).toEqual(all)
    expect(await page.locator('.limits, .prefix-note').count()).toBe(0)
  })
})

function radiosOf(page: Page, group: string): Promise<readonly string[]> {
  const labels = page.getByRole('group', { name: group })
  return labels.locator('.radio strong, .radio > span:not(:has(strong))').allTextContents()
}

function presetsOf(page: Page): Promise<readonly string[]> {
  return page.getByLabel('It may').locator('option').allTextContents()
}
