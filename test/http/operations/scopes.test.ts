import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Action, ACTIONS } from '../../../src/core/auth/scope.ts'
import { type ApiOperation, namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import { EVERY_OPERATION } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import { withoutIds } from '../../catalogue/scene.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { upload } from '../fixture.ts'
import { issue, type Problem, problemOf, send } from '../scopes/scoped-requests.ts'

const ofToken = OPERATIONS.filter(({ anyOf }) => anyOf !== undefined)

const NAMES = {
  never: 'in-never',
  existing: 'in-there',
  absent: 'in-nowhere',
  outside: 'out-there',
  unknown: 'out-nowhere',
}

describe('a token with a scope', () => {
  let service: TestService
  let scene: OwnScene
  const tokens = new Map<Action, { readonly wide: string; readonly narrow: string }>()
  beforeAll(async () => {
    service = await openEmbedded(EVERY_OPERATION)
    const own = await createScene(service)
    scene = { ...own, ...withoutIds(own) }
    const { user } = scene
    for (const name of [NAMES.existing, NAMES.outside])
      await upload(service, { user, name, content: 'x' })
    for (const action of ACTIONS) {
      const [wide, narrow] = await Promise.all([
        issue(service, user, { actions: [action] }),
        issue(service, user, { actions: [action], prefix: 'in-' }),
      ])
      tokens.set(action, { wide, narrow })
    }
  })
  afterAll(() => service.stop())

  const tokenOf = (action: Action) => tokens.get(action) ?? { wide: '', narrow: '' }
  async function refusalOf(
    { sent }: ApiOperation,
    file: string,
    token: string,
  ): Promise<Problem | undefined> {
    const problem = await problemOf(await send(service, { ...sent({ ...scene, file }), token }))
    return problem?.code === 'scope_insufficient' ? problem : undefined
  }

  it.each(namesOf(ofToken))(
    '%s: is refused without the action, and before the body, whether or not there is a file',
    async (_, operation) => {
      const { id, anyOf = [], and } = operation
      await upload(service, { user: scene.user, name: NAMES.existing, content: 'x' })
      for (const action of ACTIONS) {
        const { wide } = tokenOf(action)
        const isPermitted = anyOf.length === 0 || anyOf.includes(action)
        const required = isPermitted ? and : anyOf[0]
        const refusal = await refusalOf(operation, NAMES.existing, wide)
        expect({ action, isRefused: refusal !== undefined }).toEqual({
          action,
          isRefused: required !== undefined,
        })
        // Only refused requests have this name, so no file gets it.
        const same = refusal && (await refusalOf(operation, NAMES.never, wide))
        expect(refusal).toEqual(same)
        // An answer to HEAD has no body.
        const told = id === 'getUploadOffset' ? required : refusal?.required
        expect(told).toBe(required)
      }
    },
  )

  it.each(namesOf(ofToken.filter(({ isNamed }) => isNamed)))(
    '%s: is refused outside the prefix, whether or not there is a file',
    async (_, operation) => {
      const { anyOf = [] } = operation
      for (const action of anyOf) {
        const { narrow } = tokenOf(action)
        expect(await refusalOf(operation, NAMES.absent, narrow)).toBeUndefined()
        const refusals = [
          await refusalOf(operation, NAMES.outside, narrow),
          await refusalOf(operation, NAMES.unknown, narrow),
        ]
        const [first] = refusals
        expect(first).toMatchObject({ status: 403, required: 'prefix' })
        expect(refusals).toEqual([first, first])
      }
    },
  )
})
