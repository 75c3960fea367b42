import { expect } from 'vitest'
import { ADMIN_TOKEN, call, OPERATORS } from '../http/admin/fixture.ts'
import { park } from '../http/admin/webhooks-suite.ts'
import { ask, jsonOf, MIB, secretOf } from '../http/fixture.ts'
import { createLink } from '../http/links/link-requests.ts'
import { beginUpload } from '../support/http/tus-client.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { DEVICE, GRANT, PREFIX, type Scene } from './scene.ts'

/** A scene on a service, and its user. */
export interface OwnScene extends Scene {
  readonly user: TestUser
}

/**
 * Sets up an account on a service that keeps history and has webhooks. The link with a password, whose hash takes long,
 * can be that of another account.
 */
export async function createScene(
  service: TestService,
  { locked }: Partial<Pick<Scene, 'locked'>> = {},
): Promise<OwnScene> {
  const user = await service.createUser(MIB)
  const { userId, cookie } = user
  const token = secretOf(user)
  const put = async (name: string) => {
    const path = `/users/me/repo/${name}`
    const reply = await ask(service, { user, method: 'PUT', path, body: name.slice(-3) })
    expect(reply.status).toBe(200)
    return String(jsonOf(reply)['version'])
  }
  const file = `${PREFIX}file`
  await put(file)
  const version = await put(`${PREFIX}past`)
  await ask(service, { user, method: 'DELETE', path: `/users/me/repo/${PREFIX}past` })
  const other = await service.accessTokens.issue({ userId, label: '', expiresInSeconds: undefined })
  const terms = { userId, bytes: 1, model: undefined, startsAt: undefined, endsAt: undefined }
  const device = { source: 'device', reference: DEVICE, label: 'Front door', share: 'all' } as const
  await service.users.putGrant({ ...terms, ...device })
  await service.users.putGrant({ ...terms, ...GRANT })
  const link = await createLink(service, { token, kind: 'download', prefix: PREFIX })
  const drop = await createLink(service, { token, kind: 'drop', prefix: `${PREFIX}drop-` })
  const lock = { token, kind: 'download', prefix: PREFIX, password: 'right' }
  const content = { length: 10, content: 'abc' }
  return {
    user,
    userId,
    token,
    adminToken: ADMIN_TOKEN,
    file,
    version,
    upload: await beginUpload(service, { cookie, name: `${PREFIX}upload`, ...content }),
    tokenId: other.tokenId,
    linkId: link.link_id,
    download: link.secret,
    drop: drop.secret,
    dropped: await beginUpload(service, {
      path: `/links/${drop.secret}/uploads/`,
      name: 'upload',
      ...content,
    }),
    locked: locked ?? (await createLink(service, lock)).secret,
    operator: await operatorOn(service),
    webhook: await park(service),
  }
}

/** All scenes of a service share one, because their number is limited. */
async function operatorOn(service: TestService): Promise<string> {
  const body = { name: 'watcher', role: 'viewer' }
  const { status } = await call(service, { method: 'POST', at: OPERATORS, body })
  expect([201, 409]).toContain(status)
  return body.name
}
