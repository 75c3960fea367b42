import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem/store.ts'
import { FAILED_ATTEMPT_POLICY } from '../../src/core/auth/failed-attempts.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { startTestService } from '../support/service/test-service.ts'
import type { Clock } from './clock.ts'

const ADMIN_TOKEN = 'the-admin-token-of-the-recording'

export interface RecordedService extends AsyncDisposable {
  readonly port: number
  /** Makes a user who owns a device; resolves with an access token. */
  createUser(userId: string): Promise<string>
}

/**
 * The service by a clock that stands still: 1,000 bytes for every user, and 500 more for a device. The second wrong
 * token of an address blocks it.
 */
export async function openRecordedService(clock: Clock): Promise<RecordedService> {
  await using opened = new AsyncDisposableStack()
  const folder = await createFolder('recorded')
  opened.defer(() => folder.remove())
  const file = join(folder.path, 'database.sqlite')
  const database = await openSqlite({ file, clock: clock.now })
  opened.defer(() => database.close())
  await migrate(database)
  const objects = createFilesystemStore({ directory: join(folder.path, 'objects') })
  opened.defer(() => objects.close())
  await objects.prepare(AbortSignal.timeout(10_000))
  const capacities = { baseCapacity: 1000, deviceCapacity: 500 }
  const failedAttemptPolicy = {
    ...FAILED_ATTEMPT_POLICY,
    maxFailedAttempts: 2,
    windowMs: 3_600_000,
  }
  const options = { ...capacities, failedAttemptPolicy, adminToken: ADMIN_TOKEN }
  const service = await startTestService({ database, objects }, options)
  opened.defer(() => service.stop())
  const kept = opened.move()

  async function administrate(method: string, path: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const url = `http://127.0.0.1:${service.adminPort}/admin/users/${path}`
    const reply = await fetch(url, { method, headers })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as Record<string, unknown>
  }

  return {
    port: service.port,
    async createUser(userId) {
      await administrate('PUT', userId)
      await administrate('PUT', `${userId}/devices/camera-17`)
      const { access_token } = await administrate('POST', `${userId}/access-tokens`)
      return String(access_token)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
