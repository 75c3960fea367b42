import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { park } from '../http/admin/webhooks-suite.ts'
import { ask, jsonOf, MIB, secretOf } from '../http/fixture.ts'
import { createLink } from '../http/links/link-requests.ts'
import { beginUpload } from '../support/http/tus-client.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'

/** An account with one of each thing that an operation can name. */
export interface Scene {
  readonly user: TestUser
  readonly userId: string
  /** Of the user, without a scope. */
  readonly token: string
  /** The name of a file of 3 bytes. */
  readonly file: string
  /** A version of another file, which was deleted. */
  readonly version: string
  /** A resumable upload that has 3 of its 10 bytes. */
  readonly upload: string
  /** Of another token. */
  readonly tokenId: string
  /** The id of the link with the secret `download`. */
  readonly linkId: string
  /** The secret of a link to the file and others with its prefix. */
  readonly download: string
  /** The secret of a link that takes files. */
  readonly drop: string
  /** A resumable upload by that link, which has 3 of its 10 bytes. */
  readonly dropped: string
  /** The secret of a link with the password `right`. */
  readonly locked: string
  /** An event of another user that could not be delivered. */
  readonly webhook: string
}

export const PREFIX = 'in-'

/** An id of nothing, for any kind of id but that of a user. */
export const ABSENT = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

/** Every account has this device, and this grant. */
export const DEVICE = 'camera'
export const GRANT = { source: 'gift', reference: 'one' } as const

/**
 * Sets up an account on a service that keeps history and has webhooks. The link with a password, whose hash takes long,
 * can be that of another account.
 */
export async function createScene(
  service: TestService,
  { locked }: Partial<Pick<Scene, 'locked'>> = {},
): Promise<Scene> {
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
  const terms = { userId, bytes: 1, startsAt: undefined, endsAt: undefined }
  await service.users.putGrant({ ...terms, source: 'device', reference: DEVICE, model: undefined })
  await service.users.putGrant({ ...terms, ...GRANT, model: undefined })
  const link = await createLink(service, { token, kind: 'download', prefix: PREFIX })
  const drop = await createLink(service, { token, kind: 'drop', prefix: `${PREFIX}drop-` })
  const lock = { token, kind: 'download', prefix: PREFIX, password: 'right' }
  const content = { length: 10, content: 'abc' }
  return {
    user,
    userId,
    token,
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
    webhook: await park(service),
  }
}

/** The same account, with ids of nothing in place of all others. */
export function withoutIds(scene: Scene): Scene {
  const secret = `crl_${'A'.repeat(43)}`
  return {
    ...scene,
    version: ABSENT,
    upload: ABSENT,
    tokenId: ABSENT,
    linkId: ABSENT,
    download: secret,
    drop: secret,
    dropped: ABSENT,
    locked: secret,
    webhook: `msg_${randomUUID()}`,
  }
}
