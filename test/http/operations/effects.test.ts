import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changedParts, readState } from '../../catalogue/account-state.ts'
import { type ApiOperation, namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { call } from '../admin/fixture.ts'
import { expectProblem, jsonOf, type Reply } from '../fixture.ts'

let service: TestService
let receiver: WebhookReceiver
let scene: OwnScene
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const webhooks = { ...EVERY_OPERATION.webhooks, url: receiver.url }
  service = await openEmbedded({ ...EVERY_OPERATION, webhooks })
  scene = await createScene(service)
})
afterAll(async () => {
  await service.stop()
  await receiver[Symbol.asyncDispose]()
})

const request = (operation: ApiOperation, scene: OwnScene, method?: string): Promise<Reply> => {
  const { listener, sent } = operation
  const asked = authorized(listener, sent(scene), scene)
  return perform(service, listener, method === undefined ? asked : { ...asked, method })
}

/** The newest entries of the audit trail. */
async function newestActions(): Promise<readonly Action[]> {
  const reply = await call(service, { method: 'GET', at: '/admin/audit?limit=3' })
  return jsonOf(reply)['actions'] as readonly Action[]
}

/** What the audit trail has got since then. */
async function actionsSince([newest]: readonly Action[]): Promise<readonly string[]> {
  const actions = await newestActions()
  const end = actions.findIndex(({ action_id: id }) => id === newest?.action_id)
  return actions.slice(0, end).map(({ action }) => action)
}

interface Action {
  readonly action_id: string
  readonly action: string
}

describe('each operation', () => {
  it.each(namesOf(OPERATIONS))(
    '%s shows and changes its part of the account alone, and is audited if an operator asked',
    async (_, operation) => {
      const { status, shows = () => ({}), changes = [], audited = [] } = operation
      const own = await createScene(service, scene)
      const before = await readState(service, own.userId)
      const trail = await newestActions()
      const reply = await request(operation, own)
      const added = await actionsSince(trail)
      const changed = changedParts(before, await readState(service, own.userId))
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status })
      expect(operation.shows === undefined ? {} : jsonOf(reply)).toMatchObject(shows(own))
      expect(changed.toSorted()).toEqual(changes.toSorted())
      expect(added).toEqual([audited].flat())
    },
  )

  it.each(namesOf(OPERATIONS))(
    '%s is refused with its code, and changes nothing',
    async (...row) => {
      const [, { listener, refused }] = row
      const before = await readState(service, scene.userId)
      const trail = await newestActions()
      const [sent, status, code] = refused(scene)
      const reply = await perform(service, listener, authorized(listener, sent, scene))
      expect(reply.status).toBe(status)
      if (sent.method !== 'HEAD') expectProblem(reply, { status, code })
      expect(await actionsSince(trail)).toEqual([])
      expect(changedParts(before, await readState(service, scene.userId))).toEqual([])
    },
  )

  it.each(namesOf(OPERATIONS.filter(({ hasHead }) => hasHead)))(
    '%s answers HEAD as GET, without a body',
    async (_, operation) => {
      const head = await request(operation, scene, 'HEAD')
      const got = await request(operation, scene)
      expect(head.body).toEqual(Buffer.of())
      expect({ status: head.status, ...fixed(head) }).toEqual({
        status: got.status,
        ...fixed(got),
      })
    },
  )
})

const FRAMING = new Set(['date', 'x-request-id', 'transfer-encoding'])

/** The headers that do not depend on the response's framing and time. */
function fixed({ headers }: Reply): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !FRAMING.has(name)))
}
