import { fastify } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { openService } from '../../src/compose/compose.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { diagnose } from '../../src/doctor.ts'
import { serve } from '../../src/serve.ts'
import { createFolder, freePort } from '../support/servers/local-server.ts'
import { startWebhookReceiver, WEBHOOK_SECRET } from '../support/servers/webhook-receiver.ts'

/** From the commit to the first attempt. */
const FIRST_ATTEMPT_MS = 5_000
/** From the end of the lease of an instance that crashed to another one's. */
const TAKEOVER_MS = 10_000

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

async function environment() {
  const folder = await createFolder('webhooks')
  opened.defer(() => folder.remove())
  const receiver = opened.use(await startWebhookReceiver())
  const settings = { DATA_DIR: folder.path, PORT: '0', WEB_PAGE: 'false', ADMIN_PORT: '0' }
  return { receiver, settings: { ...settings, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET } }
}

describe('a service with a receiver of webhooks', () => {
  it('sends a change soon, also after the instance that delivered before it is gone', async () => {
    const { receiver, settings } = await environment()
    const config = readConfig(settings)
    const service = await openService(config)
    opened.defer(() => service.close())
    const claim = { name: 'webhooks', holder: 'crashed', leaseMs: 3_000 } as const
    await service.ledger.acquireLeaderLease(claim)
    const server = await serve({ config, service, logger: fastify().log })
    opened.defer(() => server.stop())
    const userId = parseUserId('alice')
    await service.users.create(userId)
    const terms = { userId, label: '', expiresInSeconds: undefined }
    const { secret } = await service.accessTokens.issue(terms)
    const put = async (name: string): Promise<number> => {
      const headers = { cookie: `access_token=${secret}` }
      const url = `${server.url}/users/me/repo/${name}`
      return (await fetch(url, { method: 'PUT', headers, body: name })).status
    }
    expect(await put('a')).toBe(200)
    const names = () => receiver.received.map(({ body }) => (JSON.parse(body) as Body).data.name)
    await expect.poll(names, { timeout: TAKEOVER_MS }).toEqual(['a'])
    expect(await put('b')).toBe(200)
    await expect.poll(names, { timeout: FIRST_ATTEMPT_MS }).toEqual(['a', 'b'])
  })

  it('is examined by the doctor, with a signed ping', async () => {
    const { receiver, settings } = await environment()
    const examined = async (WEBHOOK_URL: string) =>
      (await diagnose({ ...settings, WEBHOOK_URL })).find(
        ({ check }) => check === 'webhook receiver',
      )
    expect(await examined(receiver.url)).toMatchObject({ result: 'ok' })
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as Body).type)).toEqual(['ping'])
    expect(await examined(`http://127.0.0.1:${await freePort()}/`)).toMatchObject({
      result: 'failed',
      detail: expect.stringContaining('WEBHOOK_URL') as string,
    })
  })
})

interface Body {
  readonly type: string
  readonly data: { readonly name?: string }
}
