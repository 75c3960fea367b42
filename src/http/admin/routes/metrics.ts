import type { FastifyPluginAsync } from 'fastify'

export interface ExposedMetrics {
  readonly contentType: string
  /** Renders the metrics as `contentType`. */
  expose(): Promise<string>
}

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
