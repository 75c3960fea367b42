import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATOR_ROLES } from '../../../src/core/operators/operator.ts'
import { type ApiOperation, OPERATIONS } from '../../catalogue/api-operations.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import { EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import {
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { addOperator, ADMIN_TOKEN, call } from '../admin/fixture.ts'
import { expectProblem, jsonOf, type Reply } from '../fixture.ts'

/** With the `ADMIN_TOKEN`, which has the role `admin` and no name. */
const CALLERS = [
  ...OPERATOR_ROLES.map((role) => ({ name: `${role}-1`, role })),
  { name: null, role: 'admin' },
] as const

type Caller = (typeof CALLERS)[number]

const MATRIX = OPERATIONS.flatMap((operation) =>
  operation.role === undefined
    ? []
    : CALLERS.map((caller) => [nameOf(operation, caller), { operation, caller }] as const),
)

function nameOf({ id }: ApiOperation, { name }: Caller): string {
  return `${id} by ${name ?? 'the ADMIN_TOKEN'}`
}

const mayDo = ({ role: needed = 'admin' }: ApiOperation, { role }: Caller): boolean =>
  OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed)

const ALLOWED = MATRIX.filter(([, { operation, caller }]) => mayDo(operation, caller))
const FORBIDDEN = MATRIX.filter(([, { operation, caller }]) => !mayDo(operation, caller))

let service: TestService
let receiver: WebhookReceiver
let scene: OwnScene
const tokens = new Map<string | null, string>([[null, ADMIN_TOKEN]])
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  const webhooks = { ...EVERY_OPERATION.webhooks, url: receiver.url }
  service = await openEmbedded({ ...EVERY_OPERATION, webhooks })
  scene = await createScene(service)
  for (const role of OPERATOR_ROLES) {
    tokens.set(`${role}-1`, await addOperator(service, { name: `${role}-1`, role }))
  }
})
afterAll(async () => {
  await service.stop()
  await receiver[Symbol.asyncDispose]()
})

function request(
  { sent }: ApiOperation,
  { name }: Caller,
  { scene, method }: { readonly scene: OwnScene; readonly method?: string },
): Promise<Reply> {
  const asked = sent(scene)
  const headers = { ...asked.headers, Authorization: `Bearer ${tokens.get(name)}` }
  return perform(service, 'admin', { ...asked, ...(method !== undefined && { method }), headers })
}

async function newestAction(): Promise<Action | undefined> {
  const reply = await call(service, { method: 'GET', at: '/admin/audit?limit=1' })
  return (jsonOf(reply)['actions'] as readonly Action[])[0]
}

interface Action {
  readonly action_id: string
  readonly action: string
  readonly operator: string | null
}

it('the catalogue has each role for some operation, and all three for the matrix', () => {
  const roles = OPERATIONS.flatMap(({ role }) => role ?? [])
  for (const role of OPERATOR_ROLES) expect(roles).toContain(role)
  expect(MATRIX).toHaveLength(4 * roles.length)
})

describe('each operation of operators', () => {
  it.each(ALLOWED)(
    '%s is done, and the audit trail names the operator',
    async (_name, { operation, caller }) => {
      const own = operation.changes === undefined ? scene : await createScene(service, scene)
      const before = await newestAction()
      const reply = await request(operation, caller, { scene: own })
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({
        status: operation.status,
      })
      const newest = await newestAction()
      const { audited: action } = operation
      const recorded = action === undefined ? before : { action, operator: caller.name }
      expect(newest).toMatchObject(recorded ?? {})
      expect(newest?.action_id === before?.action_id).toBe(action === undefined)
      // The next ones find what the operation may have removed.
      if (operation.id === 'addOperator') await forget(jsonOf(reply)['name'])
    },
  )

  it.each(FORBIDDEN)(
    '%s is refused before anything is read or changed',
    async (_name, { operation, caller }) => {
      const { role: required } = operation
      const before = await newestAction()
      const calls = service.calls.count
      const reply = await request(operation, caller, { scene })
      const problem = expectProblem(reply, { status: 403, code: 'operator_forbidden' })
      expect(problem).toMatchObject({ required })
      expect(service.calls.since(calls)).toEqual(['ledger.findOperatorOfToken'])
      expect(await newestAction()).toEqual(before)
    },
  )

  it.each(ALLOWED.filter(([, { operation }]) => operation.hasHead))(
    'HEAD of %s is answered',
    async (_name, { operation, caller }) => {
      const { status } = await request(operation, caller, { scene, method: 'HEAD' })
      expect(status).toBe(operation.status)
    },
  )

  it('answers 404 and 405 to any role', async () => {
    const headers = { Authorization: `Bearer ${tokens.get('viewer-1')}` }
    const send = (method: string, path: string) =>
      perform(service, 'admin', { method, path, headers })
    expectProblem(await send('POST', '/admin/nothing'), { status: 404, code: 'not_found' })
    expectProblem(await send('PUT', '/admin/overview'), { status: 405, code: 'method_not_allowed' })
  })

  it('lets a viewer read the metrics', async () => {
    const headers = { Authorization: `Bearer ${tokens.get('viewer-1')}` }
    expect((await perform(service, 'admin', { path: '/metrics', headers })).status).toBe(200)
  })
})

async function forget(name: unknown): Promise<void> {
  await call(service, { method: 'DELETE', at: `/admin/operators/${String(name)}` })
}
