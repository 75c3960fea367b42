import type {
  FastifyContextConfig,
  FastifySchema,
  HTTPMethods,
  onRequestAsyncHookHandler,
  preHandlerAsyncHookHandler,
} from 'fastify'

/** Where a shared route is mounted, with what the listener adds to it. */
export interface MountedRoute {
  readonly method: HTTPMethods | HTTPMethods[]
  readonly url: string
  readonly schema: FastifySchema
  readonly config: FastifyContextConfig
  readonly onRequest?: onRequestAsyncHookHandler
  readonly preHandler?: preHandlerAsyncHookHandler
}
