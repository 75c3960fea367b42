import { ADMIN_TOKEN } from '../../http/admin/fixture.ts'
import { type HttpProxy, startHttpProxy } from '../../support/faults/http-proxy.ts'
import { forTest } from '../../support/for-test.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
} from '../../support/service/test-service.ts'

/** A reader of the guides with an empty folder, and a network before the service. All end with the test. */
export interface GuideScene {
  readonly folder: string
  readonly service: TestService
  readonly network: HttpProxy
  readonly user: TestUser
}

export async function openScene(
  capacity: number,
  options?: TestServiceOptions,
): Promise<GuideScene> {
  const opened = forTest()
  const folder = await temporaryFolder(opened)
  const embedded = await openEmbedded({ adminToken: ADMIN_TOKEN, ...options })
  const service = opened.adopt(embedded, (it) => it.stop())
  const network = opened.adopt(await startHttpProxy(service), (it) => it.stop())
  return { folder, service, network, user: await service.createUser(capacity) }
}
