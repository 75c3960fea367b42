import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namesOf, OPERATIONS } from '../../catalogue/api-operations.ts'
import { authorized, EVERY_OPERATION, perform } from '../../catalogue/perform.ts'
import { createScene, type OwnScene } from '../../catalogue/create-scene.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { expectProblem } from '../fixture.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']

describe('the path of each operation', () => {
  let service: TestService
  let scene: OwnScene
  beforeAll(async () => {
    service = await openEmbedded(EVERY_OPERATION)
    scene = await createScene(service)
  })
  afterAll(() => service.stop())

  it.each(namesOf(OPERATIONS))(
    '%s refuses all other methods, and names its own',
    async (_, operation) => {
      const { listener, sent, methods } = operation
      const calls = service.calls.count
      const others = METHODS.filter((method) => !methods.includes(method))
      for (const method of others) {
        const { path } = sent(scene)
        const asked = authorized(listener, { method, path }, scene)
        const reply = await perform(service, listener, asked)
        expect({ method, status: reply.status, allow: reply.headers['allow'] }).toEqual({
          method,
          status: 405,
          allow: methods.join(', '),
        })
        if (method !== 'HEAD') expectProblem(reply, { status: 405, code: 'method_not_allowed' })
      }
      expect(service.calls.changesSince(calls)).toEqual([])
    },
  )
})
