import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { change, namesOf, remove } from './file-requests.ts'
import { download, expectOnlyObjectsOf, upload, usageOf } from './fixture.ts'

const CAPACITY = 100
const MAX_FILES = 4
const NAMES = ['a', 'a/b', 'a/b/c', 'd e/%2F?#', '\u00e9/e\u0301'] as const

type Step =
  | { readonly call: 'upload'; readonly method: 'POST' | 'PUT'; readonly size: number }
  | { readonly call: 'remove' }
  | { readonly call: 'change'; readonly to: string; readonly overwrite: boolean }

interface Call {
  readonly at: number
  readonly name: string
  readonly chunked: boolean
  readonly step: Step
}

/** No two of them upload the same. */
interface NthCall extends Call {
  readonly nth: number
}

/** A repository in the simplest words: the content of each file. */
type Model = Map<string, Buffer>

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    call: fc.constant('upload' as const),
    method: fc.constantFrom('POST', 'PUT'),
    size: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom(0, 50, 99, 100, 101)),
  }),
  fc.record({ call: fc.constant('remove' as const) }),
  fc.record({
    call: fc.constant('change' as const),
    to: fc.constantFrom(...NAMES),
    overwrite: fc.boolean(),
  }),
)

const calls: fc.Arbitrary<Call[]> = fc.array(
  fc.record({
    at: fc.nat({ max: 1 }),
    name: fc.constantFrom(...NAMES),
    chunked: fc.boolean(),
    step,
  }),
  { minLength: 10, maxLength: 30 },
)

describe('a repository over HTTP', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded({ maxFiles: MAX_FILES })
  })
  afterAll(() => service.stop())

  it('is what its calls make of it, in any order (I1, I2, I4, I5, I8)', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async (calls) => {
        const users = [await service.createUser(CAPACITY), await service.createUser(CAPACITY)]
        const models: Model[] = [new Map(), new Map()]
        for (const [nth, arbitrary] of calls.entries()) {
          const call = { ...arbitrary, nth }
          const [user, model] = [users[call.at], models[call.at]]
          if (user === undefined || model === undefined) throw new Error('There is no such user.')
          const expected = foretell(model, call)
          expect({ call, status: await send(service, { ...call, user }) }).toEqual({
            call,
            status: expected,
          })
          await expectModel(service, { user, model })
        }
        for (const [at, user] of users.entries()) {
          await expectContents(service, { user, model: models[at] ?? new Map() })
        }
      }),
      { numRuns: 12 },
    )
  }, 120_000)
})

/** The status that a call answers by the model, which is changed accordingly. */
function foretell(model: Model, { name, step, nth }: NthCall): number {
  const old = model.get(name)
  switch (step.call) {
    case 'upload': {
      const growth = step.size - (old?.length ?? 0)
      if (old === undefined && model.size >= MAX_FILES) return 403
      if (growth > 0 && usedOf(model) + growth > CAPACITY) return 403
      model.set(name, contentOf(step.size, nth))
      return 200
    }
    case 'remove':
      return model.delete(name) ? 204 : 404
    case 'change': {
      if (old === undefined) return 404
      if (step.to !== name && model.has(step.to) && !step.overwrite) return 409
      model.delete(name)
      model.set(step.to, old)
      return 200
    }
  }
}

function contentOf(size: number, nth: number): Buffer {
  return Buffer.alloc(size, nth + 1)
}

function usedOf(model: Model): number {
  return [...model.values()].reduce((sum, { length }) => sum + length, 0)
}

async function send(service: TestService, call: NthCall & { user: TestUser }): Promise<number> {
  const { user, name, chunked, step, nth } = call
  switch (step.call) {
    case 'upload': {
      const content = contentOf(step.size, nth)
      return (await upload(service, { method: step.method, user, name, content, chunked })).status
    }
    case 'remove':
      return (await remove(service, { user, name })).status
    case 'change': {
      const body = { name: step.to, overwrite: step.overwrite }
      return (await change(service, { user, name, body })).status
    }
  }
}

interface Expected {
  readonly user: TestUser
  readonly model: Model
}

async function expectModel(service: TestService, { user, model }: Expected): Promise<void> {
  const figures = { used: usedOf(model), reserved: 0, fileCount: model.size }
  expect(await usageOf(service, user)).toEqual({ capacity: CAPACITY, ...figures })
  expect(await namesOf(service, { user })).toEqual([...model.keys()].sort())
}

async function expectContents(service: TestService, { user, model }: Expected): Promise<void> {
  for (const [name, content] of model) {
    const { body } = await download(service, { user, name })
    expect(body.equals(content)).toBe(true)
  }
  await expectOnlyObjectsOf(service, { user, names: [...model.keys()] })
}
