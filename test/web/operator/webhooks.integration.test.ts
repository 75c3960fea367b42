import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WEBHOOK_EVENTS } from '../../../src/core/webhooks/webhook-events.ts'
import { park } from '../../http/admin/webhooks-suite.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { describeInBrowser } from '../fixture.ts'
import { confirm, openWithOperatorPage, visitAsOperator } from './fixture.ts'

describeInBrowser('the parked webhooks, as the operator sees them', (browser) => {
  let service: TestService
  let receiver: WebhookReceiver
  beforeAll(async () => {
    receiver = await startWebhookReceiver()
    const { url } = receiver
    const webhooks = { url, secrets: [randomBytes(32)], events: new Set(WEBHOOK_EVENTS) }
    service = await openWithOperatorPage({ webhooks })
  })
  afterAll(async () => {
    await service?.stop()
    await receiver?.[Symbol.asyncDispose]()
  })

  it('are sent again, or discarded on confirmation, and not mentioned where there are none', async () => {
    const [first, second] = [await park(service), await park(service)]
    const page = await visitAsOperator({ browser: browser(), service })
    const again = page.getByRole('button', { name: `Send ${first} again` })
    await again.click()
    await expect
      .poll(() => receiver.received.map(({ headers }) => headers['webhook-id']))
      .toEqual([first])
    await again.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Discard ${second}` }).click()
    await confirm(page, 'Discard')
    await page.getByText('Events that could not be delivered').waitFor({ state: 'detached' })
    expect(receiver.received).toHaveLength(1)
    expect((await service.ledger.measureWebhooks(10)).parked).toBe(0)
  })
})
