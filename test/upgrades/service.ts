import { WEBHOOK_EVENTS } from '../../src/core/webhooks/webhook.ts'
import { startTestService, type TestService } from '../support/service/test-service.ts'

const ADMIN_TOKEN = 'the-admin-token-of-the-data-sets'

export interface Listening {
  readonly url: string
  readonly adminUrl: string
  readonly adminToken: string
  readonly service: TestService
}

/** The service on that database and object store, with limits that no data set reaches. */
export async function serve(environment: Readonly<Record<string, string>>): Promise<Listening> {
  const service = await startTestService(
    { environment },
    {
      adminToken: ADMIN_TOKEN,
      baseCapacity: 2 ** 30,
      historyLifetimeMs: 3650 * 24 * 3_600_000,
      // Nobody delivers the events, so they wait.
      webhooks: {
        url: 'http://127.0.0.1:9/',
        secrets: [Buffer.alloc(32)],
        events: new Set(WEBHOOK_EVENTS),
      },
    },
  )
  const adminUrl = `http://127.0.0.1:${service.adminPort}`
  return { url: service.url, adminUrl, adminToken: ADMIN_TOKEN, service }
}
