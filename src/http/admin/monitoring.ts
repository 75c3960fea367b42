import type { FastifyInstance } from 'fastify'
import type { Readiness } from '../../core/readiness.ts'
import { createListener, type ListenerContext } from '../server/listener.ts'
import type { RequestMeter } from '../server/request-outcome.ts'
import { otherMethods } from '../routes/method-not-allowed.ts'
import { healthRoutes } from '../routes/health.ts'
import { type ExposedMetrics, metricsRoutes } from './routes/metrics.ts'

export interface MonitoringOptions {
  readonly meter: RequestMeter
  readonly metrics: ExposedMetrics
  readonly readiness: Readiness
}

/** Builds the monitoring listener. It needs no token, so Prometheus need not hold the admin token. */
export async function buildMonitoring(
  context: ListenerContext,
  { meter, metrics, readiness }: MonitoringOptions,
): Promise<FastifyInstance> {
  const app = await createListener(context, { meter, requestTimeoutMs: 20_000 })
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('cache-control', 'no-store')
  })
  const others = otherMethods(app)
  await app.register(healthRoutes, { readiness })
  await app.register(metricsRoutes, { metrics })
  await app.register(others)
  return app
}
