import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService } from '../support/service/test-service.ts'
import { fuzz, type Fuzzing, whyNoSchemathesis } from './schemathesis.ts'
import { isSkipped } from '../support/servers/needs.ts'

const ADMIN_TOKEN = 'the-admin-token-of-the-fuzzer'
const GIB = 2 ** 30

const skipped = isSkipped(await whyNoSchemathesis())

describe.skipIf(skipped)('the service, fuzzed by its own OpenAPI document,', () => {
  let service: TestService

  beforeAll(async () => {
    service = await openEmbedded({ adminToken: ADMIN_TOKEN, baseCapacity: GIB })
  })
  afterAll(async () => {
    await service?.stop()
  })

  it('answers a user as the document says', async () => {
    const { cookie } = await service.createUser(0)
    const token = cookie.slice('access_token='.length)
    await expectClean({
      url: `${service.url}/openapi.json`,
      credentials: `bearer = { bearer = ${JSON.stringify(token)} }`,
      examples: 15,
    })
  })

  it('answers nobody as the document says', async () => {
    await expectClean({ url: `${service.url}/openapi.json`, examples: 3 })
  })

  it('answers an operator as the document says', async () => {
    await expectClean({
      url: `http://127.0.0.1:${service.adminPort}/openapi.json`,
      credentials: `admin_token = { bearer = "${ADMIN_TOKEN}" }`,
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
      examples: 8,
    })
  })
})

async function expectClean(fuzzing: Fuzzing): Promise<void> {
  const { clean, report, summary } = await fuzz(fuzzing)
  console.log(`${fuzzing.url}: ${summary}, ${clean ? 'no findings' : 'with findings'}`)
  expect(clean ? '' : report).toBe('')
}
