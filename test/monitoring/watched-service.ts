import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { exitOf, startProgram } from '../support/service/program.ts'
import { type OwnServer, startOwnMinio, startOwnPostgres } from '../support/servers/own-servers.ts'
import { startWebhookReceiver, WEBHOOK_SECRET } from '../support/servers/webhook-receiver.ts'
import { issueCookie } from '../support/service/running-service.ts'

/** A service on a PostgreSQL and a MinIO of its own, with a receiver of webhooks and a listener for Prometheus. */
export interface WatchedService {
  readonly url: string
  /** Host and port of `/metrics`. */
  readonly monitoring: string
  readonly parts: Readonly<Record<'database' | 'object_store', OwnServer>>
  /** The `Cookie` header of a user of 100,000 bytes. */
  readonly cookie: string
  /** Sends SIGTERM and resolves to its exit code. */
  end(): Promise<number | null>
}

export async function startWatchedService(opened: AsyncDisposableStack): Promise<WatchedService> {
  const [minio, postgres] = await Promise.all([startOwnMinio(opened), startOwnPostgres(opened)])
  const receiver = opened.use(await startWebhookReceiver())
  const environment = {
    ...minio.settings,
    ...postgres.settings,
    BASE_CAPACITY: '100000',
    METRICS_PORT: '0',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
  }
  const { output, process } = await startProgram({ args: ['serve'], environment, opened })
  await eventually(async () => {
    expect(output()).toMatch(/the metrics endpoint listens at /)
  })
  return {
    url: `http://${addressIn(output(), 'the API')}`,
    monitoring: addressIn(output(), 'the metrics endpoint'),
    parts: { database: postgres.server, object_store: minio.server },
    cookie: await issueCookie('alice', { environment, opened }),
    end: async () => {
      process.kill('SIGTERM')
      return await exitOf(process)
    },
  }
}

function addressIn(log: string, listener: string): string {
  const [, address = ''] = new RegExp(`${listener} listens at http://([^"]+)`).exec(log) ?? []
  return address
}
