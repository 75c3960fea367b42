import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { addOperator, call, OPERATORS } from '../../http/admin/fixture.ts'
import { upload } from '../../http/fixture.ts'
import { createLink } from '../../http/links/link-requests.ts'
import { beginUpload } from '../../support/http/tus-client.ts'
import { park } from '../../http/admin/webhooks-suite.ts'
import { WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook-events.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { describeInBrowser, secretOf } from '../fixture.ts'
import {
  confirm,
  lookAgain,
  openWithOperatorPage,
  signIn,
  visitAdmin,
  visitAsOperator,
} from './fixture.ts'

const WEBHOOKS = {
  url: 'http://127.0.0.1:9/hooks',
  secrets: [Buffer.alloc(32)],
  events: new Set(WEBHOOK_EVENTS),
}

describeInBrowser('operators with a name and a role', (browser) => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await openWithOperatorPage({ webhooks: WEBHOOKS, historyLifetimeMs: 3_600_000 })
    user = await service.createUser(9000)
    await upload(service, { user, name: 'a.txt', content: 'x' })
    await upload(service, { user, name: 'a.txt', content: 'y' })
    const token = secretOf(user)
    await createLink(service, { token, kind: 'drop', prefix: 'in/', label: 'Inbox' })
    await beginUpload(service, { cookie: user.cookie, name: 'b', length: 10, content: 'abc' })
    const { userId } = user
    const terms = { userId, bytes: 1, model: undefined, startsAt: undefined, endsAt: undefined }
    const device = { source: 'device', reference: 'cam', label: 'Cam', share: 'all' } as const
    await service.users.putGrant({ ...terms, ...device })
    await park(service)
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    for (const name of ['dana', 'sam', 'val']) {
      await call(service, { method: 'DELETE', at: `${OPERATORS}/${name}` })
    }
  })

  /** Opens the page signed in with the token of a new operator. */
  async function visitAs(name: string, role: 'viewer' | 'support' | 'admin', path = '/#/') {
    const token = await addOperator(service, { name, role })
    const page = await visitAdmin({ browser: browser(), service, path, hasTestClock: true })
    await signIn(page, token)
    await page.getByRole('complementary', { name: 'Service' }).waitFor()
    return page
  }

  it('are added with a token, which signs in, and removed, which signs out', async () => {
    const page = await visitAsOperator({ browser: browser(), service, path: '/#/operators' })
    await page.getByText('ADMIN_TOKEN (Administrator)').waitFor()
    await page.getByRole('button', { name: 'Add an operator' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Dana')
    await page.getByLabel('Role', { exact: true }).selectOption('support')
    await page.getByText('Also changes the status').waitFor()
    await confirm(page, 'Add')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('dana')
    await confirm(page, 'Add')
    const token = await page.getByLabel('Token', { exact: true }).inputValue()
    expect(token).toMatch(/^cro_[\w-]{43}$/)
    await confirm(page, 'Done')
    expect(await page.getByRole('listitem').filter({ hasText: 'dana' }).textContent()).toContain(
      'Support',
    )
    expect(await page.content()).not.toContain(token)

    const other = await visitAdmin({
      browser: browser(),
      service,
      path: '/#/operators',
      hasTestClock: true,
    })
    await signIn(other, token)
    await other.getByText('dana (Support)').waitFor()
    expect(await other.getByRole('button', { name: 'Add an operator' }).count()).toBe(0)
    expect(await other.getByRole('button', { name: 'Remove dana' }).count()).toBe(0)

    await page.getByRole('button', { name: 'Remove dana' }).click()
    await confirm(page, 'Remove')
    await page.getByText('No operators.').waitFor()
    await lookAgain(other)
    await other.getByText('You were signed out').waitFor()
    await signIn(other, token)
    await other.getByText('nor that of an operator').waitFor()
  })

  it('are named in the audit trail', async () => {
    const page = await visitAs('val', 'viewer', '/#/audit')
    const entry = page.getByRole('listitem').filter({ hasText: 'Operator signed in' }).first()
    await entry.waitFor()
    expect(await entry.textContent()).toContain('val, 127.0.0.1')
  })

  /** The buttons that change something, wherever the page has them. */
  async function changesFor(role: 'viewer' | 'support' | 'admin'): Promise<readonly string[]> {
    const page = await visitAs('sam', role)
    const found: string[] = []
    const look = async (hash: string, isThere: string) => {
      await page.goto(`http://127.0.0.1:${service.adminPort}/#/${hash}`)
      await page.getByRole('main').getByText(isThere).first().waitFor()
      if (hash === `users/${user.userId}`) {
        await page.getByRole('button', { name: 'Show', exact: true }).click()
        await page.getByText('replaced').first().waitFor()
      }
      for (const button of await page.getByRole('main').getByRole('button').all()) {
        found.push((await button.getAttribute('aria-label')) ?? (await button.innerText()))
      }
    }
    await look('', 'Events that could not be delivered')
    await look('users', user.userId)
    await look(`users/${user.userId}`, 'Access tokens')
    await look(`users/${user.userId}/files`, 'a.txt')
    await look('operators', 'sam')
    await page.context().close()
    const known = [...SUPPORT, ...ADMIN]
    return known.filter((text) => found.some((name) => name.trim().startsWith(text)))
  }

  it('are offered only what their role permits', async () => {
    expect(await changesFor('viewer')).toEqual([])
    await call(service, { method: 'DELETE', at: `${OPERATORS}/sam` })
    expect(await changesFor('support')).toEqual(SUPPORT)
    await call(service, { method: 'DELETE', at: `${OPERATORS}/sam` })
    expect(await changesFor('admin')).toEqual([...SUPPORT, ...ADMIN])
  })

  it('are told so if their role does not permit what the page still offers', async () => {
    const page = await visitAs('sam', 'admin', '/#/users')
    await page.getByRole('button', { name: 'New user' }).click()
    // As if another operator had given the name another role meanwhile.
    await page.route('**/admin/users', (route) =>
      route.fulfill({
        status: 403,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'operator_forbidden', detail: 'No.', required: 'admin' }),
      }),
    )
    await confirm(page, 'Create user')
    const alert = page.getByRole('dialog').getByRole('alert')
    expect(await alert.textContent()).toBe('Your role does not permit this.')
  })
})

const SUPPORT = [
  'Suspend',
  'Restore',
  'Issue a token',
  'Revoke test',
  'Revoke the link Inbox',
  'Discard b',
  'Delete a.txt',
]
const ADMIN = [
  'Send msg',
  'Discard msg',
  'New user',
  'Delete user',
  'Add a device',
  'Change cam',
  'Remove cam',
  'Grant capacity',
  'Add an operator',
  'Remove sam',
]
