import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import { findNginx, startBalancer } from '../../support/servers/nginx.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { createPlace, isWithoutProduction } from '../../support/service/production-service.ts'
import { startService } from '../../support/service/running-service.ts'
import { startTestService, type TestService } from '../../support/service/test-service.ts'

/** What a service stands on, with what it needs to be reached. */
export interface Stack {
  readonly title: string
  readonly isSkipped: boolean
  readonly open: (
    opened: AsyncDisposableStack,
    options: { readonly allowedOrigins: readonly string[] },
  ) => Promise<Opened>
}

interface Opened {
  /** For users and downloads; beside the instances where there are two. */
  readonly service: TestService
  /** Where clients send uploads to. */
  readonly port: number
}

export const EMBEDDED: Stack = {
  title: 'SQLite and local files',
  isSkipped: false,
  async open(opened, options) {
    const service = await openEmbedded(options)
    opened.defer(() => service.stop())
    return { service, port: service.port }
  },
}

export const PRODUCTION: Stack = {
  title: 'two instances on PostgreSQL and MinIO behind nginx',
  isSkipped: isWithoutProduction() || isSkipped(await whyMissing(findNginx())),
  async open(opened, options) {
    const place = await createPlace()
    opened.defer(() => place.remove())
    const service = await startTestService(place, options)
    opened.defer(() => service.stop())
    const environment = { ...place.environment, ALLOWED_ORIGINS: options.allowedOrigins.join() }
    const start = () => startService({ environment, opened })
    const instances = await Promise.all([start(), start()])
    const balancer = await startBalancer(instances.map(({ url }) => Number(new URL(url).port)))
    opened.defer(() => balancer.stop())
    return { service, port: balancer.port }
  },
}
