import type { Page } from 'playwright-core'
import { ADMIN_OPTIONS, ADMIN_TOKEN } from '../../http/admin/fixture.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { buildOperatorPage } from '../../support/http/page.ts'
import type { TestService, TestServiceOptions } from '../../support/service/test-service.ts'
import { visit, type VisitOptions } from '../fixture.ts'

/** A service with the operator's page as its sources are now. */
export async function openWithOperatorPage(options?: TestServiceOptions): Promise<TestService> {
  return openEmbedded({ ...ADMIN_OPTIONS, ...options, operatorPage: await buildOperatorPage() })
}

export interface OperatorVisit extends Omit<VisitOptions, 'service' | 'user'> {
  readonly service: TestService
}

/** Opens the page of the admin listener. */
export function visitAdmin(options: OperatorVisit): Promise<Page> {
  return visit(toAdmin(options))
}

/** Where `openPage` and `visit` find the admin listener. */
export function toAdmin({ service, ...options }: OperatorVisit): VisitOptions {
  return { ...options, service: { url: `http://127.0.0.1:${service.adminPort}` } }
}

/** Opens it signed in, by default with the overview. */
export async function visitAsOperator(options: OperatorVisit): Promise<Page> {
  const page = await visitAdmin(options)
  await signIn(page, ADMIN_TOKEN)
  await page.getByRole('complementary', { name: 'Service' }).waitFor()
  return page
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Has a page with a test clock ask the service anew at once, as it does every 3 s. */
export async function lookAgain(page: Page): Promise<void> {
  await page.context().clock.fastForward(3_000)
}

/** Presses the button of the dialog. */
export async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
}
