import type { FastifyPluginAsync } from 'fastify'
import { AppError, isDatabaseFull } from '../../core/errors.ts'
import type { Readiness } from '../../core/readiness.ts'
import { describing } from '../openapi/operation.ts'
import { Type } from '../openapi/type.ts'

export interface HealthOptions {
  readonly readiness: Readiness
  readonly isRefusing?: () => boolean
}

/** `/livez`: the process answers. `/readyz`: it can serve. A full disk is `full` until a write succeeds. */
export const healthRoutes: FastifyPluginAsync<HealthOptions> = async (app, options) => {
  const { readiness, isRefusing = () => false } = options

  app.route({
    schema: LIVE.schema,
    config: { ...LIVE.config, isProbe: true },
    method: ['GET', 'HEAD'],
    url: '/livez',
    handler: async (_request, reply) => {
      void reply.header('cache-control', 'no-store')
      return { status: 'live' }
    },
  })

  app.route({
    schema: READY.schema,
    config: { ...READY.config, isProbe: true },
    method: ['GET', 'HEAD'],
    url: '/readyz',
    handler: async (_request, reply) => {
      if (app.signals.stopping.aborted)
        throw new AppError('unavailable', 'The service is shutting down.')
      if (isRefusing()) throw new AppError('unavailable', 'Too many downloads are in progress.')
      const failures = await readiness.failures()
      if (failures.size > 0) throw notReady(failures)
      void reply.header('cache-control', 'no-store')
      return { status: 'ready', database: 'ok', object_store: 'ok' }
    },
  })
}

const probe = describing({ tag: 'health', credentials: 'none' })

const LIVE = probe({
  operationId: 'getLiveness',
  summary: 'Check that the process is alive',
  response: { 200: Type.Object({ status: Type.Literal('live') }) },
  responses: { 200: { description: 'The process is alive.', headers: ['Cache-Control'] } },
})

const READY = probe({
  operationId: 'getReadiness',
  summary: 'Check that the service can handle requests',
  description:
    'The response is 503 in these cases:\n\n' +
    '- The database or the object store fails. The response names it. A database also counts as failed if its ' +
    'last write failed because of a full disk, and an object store if it is not the one that the database knows.\n' +
    '- Downloads are refused because too many are in progress.\n' +
    '- The service is shutting down.',
  response: {
    200: Type.Object({
      status: Type.Literal('ready'),
      database: Type.Literal('ok'),
      object_store: Type.Literal('ok'),
    }),
  },
  responses: {
    200: { description: 'The database and the object store respond.', headers: ['Cache-Control'] },
  },
})

function notReady(failures: ReadonlyMap<string, unknown>): AppError {
  const dependencies = [...failures.keys()].join(' and the ').replace('_', ' ')
  const isOnlyFull = failures.size === 1 && isDatabaseFull(failures.get('database'))
  const detail = isOnlyFull
    ? 'The disk of the database is full.'
    : `The check of the ${dependencies} failed.`
  return new AppError('unavailable', detail, {
    cause: failures.values().next().value,
    facts: {
      database: stateOf(failures.get('database')),
      object_store: stateOf(failures.get('object_store')),
    },
  })
}

function stateOf(failure: unknown): 'ok' | 'full' | 'failing' {
  if (failure === undefined) return 'ok'
  return isDatabaseFull(failure) ? 'full' : 'failing'
}
