import type { FastifyInstance } from 'fastify'
import type { Readiness } from '../../core/readiness.ts'
import { createListener, type ListenerOptions } from '../server/listener.ts'
import { otherMethods } from '../shared-routes/method-not-allowed.ts'
import { healthRoutes } from '../shared-routes/health.ts'
import { type ExposedMetrics, metricsRoutes } from './routes/metrics.ts'

export interface MonitoringOptions extends Pick<
  ListenerOptions,
  'logger' | 'trustedProxies' | 'stopping' | 'connections' | 'meter'
> {
  readonly metrics: ExposedMetrics
  readonly readiness: Readiness
}

/** Builds the monitoring listener. It needs no token, so Prometheus need not hold the admin token. */
export async function buildMonitoring(options: MonitoringOptions): Promise<FastifyInstance> {
  const app = await createListener({ ...options, server: SERVER })
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('cache-control', 'no-store')
  })
  const others = otherMethods(app)
  await app.register(healthRoutes, options)
  await app.register(metricsRoutes, options)
  await app.register(others)
  return app
}

const SERVER = { requestTimeout: 20_000 } as const
