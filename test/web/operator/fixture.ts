import type { Page } from 'playwright-core'
import { ADMIN_OPTIONS, ADMIN_TOKEN } from '../../http/admin/fixture.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { buildOperatorPage } from '../../support/http/page.ts'
import type { TestService, TestServiceOptions } from '../../support/service/test-service.ts'
import { visit, type Visit, type VisitOptions } from '../fixture.ts'

/** A service with the operator's page as its sources are now. */
export async function openWithOperatorPage(options?: TestServiceOptions): Promise<TestService> {
  return openEmbedded({ ...ADMIN_OPTIONS, ...options, operatorPage: await buildOperatorPage() })
}

export interface OperatorVisit extends Omit<VisitOptions, 'service' | 'user'> {
  readonly service: TestService
}

/** Opens the page of the admin listener. */
export function visitAdmin({ service, ...options }: OperatorVisit): Promise<Visit> {
  return visit({ ...options, service: { url: `http://127.0.0.1:${service.adminPort}` } })
}

/** Opens it signed in, by default with the overview. */
export async function visitAsOperator(options: OperatorVisit): Promise<Visit> {
  const opened = await visitAdmin(options)
  await signIn(opened.page, ADMIN_TOKEN)
  await opened.page.getByRole('complementary', { name: 'Service' }).waitFor()
  return opened
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Presses the button of the dialog. */
export async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
}
