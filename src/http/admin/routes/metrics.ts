import type { FastifyPluginAsync } from 'fastify'

/** What `/metrics` shows. */
export interface ExposedMetrics {
  readonly contentType: string
  /** In the format of `contentType`. Never rejects. */
  expose(): Promise<string>
}

/** Prometheus' scrape. */
export const metricsRoutes: FastifyPluginAsync<{ readonly metrics: ExposedMetrics }> = async (
  app,
  { metrics },
) => {
  app.get('/metrics', PROBE, async (_request, reply) => {
    void reply.type(metrics.contentType)
    return await metrics.expose()
  })
}

const PROBE = { config: { isProbe: true } }
