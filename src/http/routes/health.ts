import type { FastifyPluginAsync } from 'fastify'
import { AppError } from '../../core/errors.ts'
import type { Readiness } from '../../core/readiness.ts'

export interface HealthOptions {
  readonly readiness: Readiness
  /** Aborts, or is about to, when the service is shutting down. */
  readonly isStopping: () => boolean
}

/**
 * `/livez`: the process answers. `/readyz`: it can serve, that is, database and object store answer and it is not
 * shutting down; else 503, with the part that fails.
 */
export const healthRoutes: FastifyPluginAsync<HealthOptions> = async (app, options) => {
  const { readiness, isStopping } = options

  app.get('/livez', PROBE, async (_request, reply) => {
    void reply.header('cache-control', 'no-store')
    return { status: 'live' }
  })

  app.get('/readyz', PROBE, async (_request, reply) => {
    if (isStopping()) throw new AppError('unavailable', 'The service is shutting down.')
    const failures = await readiness.failures()
    if (failures.size > 0) throw notReady(failures)
    void reply.header('cache-control', 'no-store')
    return { status: 'ready', database: 'ok', object_store: 'ok' }
  })
}

const PROBE = { config: { isProbe: true } }

function notReady(failures: ReadonlyMap<string, unknown>): AppError {
  const parts = [...failures.keys()]
  return new AppError('unavailable', `No answer from: ${parts.join(', ').replace('_', ' ')}.`, {
    cause: [...failures.values()][0],
    facts: {
      database: failures.has('database') ? 'failing' : 'ok',
      object_store: failures.has('object_store') ? 'failing' : 'ok',
    },
  })
}
