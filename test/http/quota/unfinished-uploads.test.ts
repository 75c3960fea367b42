import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, upload } from '../fixture.ts'
import { appended, cancel, createUpload } from '../resumable/tus-requests.ts'

describe('the unfinished uploads beside the capacity', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded()
  })
  afterAll(() => service.stop())

  const unfinished = async ({ cookie }: TestUser): Promise<unknown> => {
    const reply = await fetch(`${service.url}/users/me/capacity`, { headers: { cookie } })
    return ((await reply.json()) as { readonly unfinished_uploads: unknown }).unfinished_uploads
  }

  const create = (user: TestUser, name: string) =>
    createUpload(service, { user, name, length: MIB })

  it('are counted with what they announced, also where they replace a file and need nothing more', async () => {
    const user = await service.createUser(8 * MIB)
    expect(await unfinished(user)).toEqual({ count: 0, bytes: 0 })
    await upload(service, { user, name: 'old.bin', content: Buffer.alloc(MIB) })
    await create(user, 'new.bin')
    const replacing = await create(user, 'old.bin')
    expect(await unfinished(user)).toEqual({ count: 2, bytes: 2 * MIB })
    await cancel(service, replacing)
    expect(await unfinished(user)).toEqual({ count: 1, bytes: MIB })
  })

  it('are those of the user alone, and none that has ended well', async () => {
    const [user, other] = [await service.createUser(8 * MIB), await service.createUser(8 * MIB)]
    const created = await create(user, 'file.bin')
    expect(await unfinished(other)).toEqual({ count: 0, bytes: 0 })
    await appended(service, created, { body: Buffer.alloc(MIB) })
    expect(await unfinished(user)).toEqual({ count: 0, bytes: 0 })
  })
})
