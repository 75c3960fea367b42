import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service/test-service.ts'
import { type Placed, placeFile, upload } from '../fixture.ts'
import { uploadAll } from '../file-requests.ts'

/** A file that others may not see, or one that is not there. */
export interface HiddenFile {
  readonly what: string
  readonly owner: string
  readonly name: string
  /** Of the file, where there is one. */
  readonly etag: string
}

/** One of each kind; the first is of nobody at all. */
export async function hiddenFiles(service: TestService): Promise<readonly HiddenFile[]> {
  const name = 'hidden-file'
  const [owner, suspended, deleted] = [
    await placeFile(service, { name }),
    await placePublic(service, name),
    await placePublic(service, name),
  ]
  const names = Array.from({ length: 20 }, (_, index) => `hidden-${index}`)
  await uploadAll(service, { user: owner.user, names })
  await service.users.setUserStatus(suspended.user.userId, 'suspended')
  await service.users.deleteUser(deleted.user.userId)
  return [
    { what: 'of nobody', owner: randomUUID(), name, etag: '"other"' },
    { what: 'not there', owner: owner.user.userId, name: 'unknown-file', etag: '"other"' },
    { what: 'private', owner: owner.user.userId, name, etag: owner.etag },
    { what: 'of a suspended user', owner: suspended.user.userId, name, etag: suspended.etag },
    { what: 'of a deleted user', owner: deleted.user.userId, name, etag: deleted.etag },
  ]
}

async function placePublic(service: TestService, name: string): Promise<Placed> {
  const placed = await placeFile(service, { name })
  const { user, content } = placed
  const reply = await upload(service, { user, name, content, query: '?visibility=public' })
  // What a form brings has its ETag in the body alone.
  const { etag } = JSON.parse(String(reply.body)) as { readonly etag: string }
  return { ...placed, etag: `"${etag}"` }
}
