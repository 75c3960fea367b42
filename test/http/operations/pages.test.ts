import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiOperation, namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { call } from '../admin/fixture.ts'
import { jsonOf } from '../fixture.ts'

/** The feed of changes has a cursor after its last page, too. */
const LISTS = OPERATIONS.filter(
  ({ id, queries }) =>
    queries.includes('limit') && queries.includes('cursor') && id !== 'listChanges',
)

describe('each list', () => {
  let service: TestService
  let scene: OwnScene
  beforeAll(async () => {
    service = await openEmbedded(EVERY_OPERATION)
    scene = await createScene(service)
    await createScene(service)
    for (const _ of ['one', 'two']) await call(service, { method: 'POST' })
  })
  afterAll(() => service.stop())

  async function pageOf({ listener, sent }: ApiOperation, query: string) {
    const { path, ...rest } = sent(scene)
    // Without what the request selects by, so that there is more than one entry.
    const asked = { ...rest, path: `${path.split('?', 1)[0] ?? ''}?${query}` }
    const reply = await perform(service, listener, authorized(listener, asked, scene))
    expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
    const page = jsonOf(reply)
    const entries = Object.values(page).find((value) => Array.isArray(value)) as readonly unknown[]
    return { entries, next: page['next_cursor'] as string | null }
  }

  it.each(namesOf(LISTS))('%s has each entry once, page by page', async (_, operation) => {
    const whole = await pageOf(operation, 'limit=1000')
    const entries: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page = await pageOf(operation, `limit=1${after}`)
      expect(page.entries.length).toBeLessThanOrEqual(1)
      entries.push(...page.entries)
      cursor = page.next
    }
    expect(whole.next).toBeNull()
    expect(entries).toEqual(whole.entries)
    expect(entries.length).toBeGreaterThan(0)
  })
})
