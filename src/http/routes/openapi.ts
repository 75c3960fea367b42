import type { FastifyPluginAsync } from 'fastify'
import type { Json, Operation } from '../openapi/operation.ts'

export interface OpenApiOptions {
  /** Makes the document, once all routes are there. */
  readonly document: () => Json
  /** Who gets it, and what everyone else is told. */
  readonly access: Pick<Operation, 'credentials' | 'problems'>
}

/** `GET /openapi.json`: what can be asked of this listener, and all that it answers. */
export const openApiRoutes: FastifyPluginAsync<OpenApiOptions> = async (app, options) => {
  const { document, access } = options
  let text: string | undefined
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    config: {
      operation: {
        operationId: 'getOpenApi',
        summary: 'This document',
        tag: 'about',
        ...access,
        responses: {
          200: {
            description: 'OpenAPI 3.1.',
            content: { 'application/json': { schema: { type: 'object' } } },
          },
        },
      },
    },
    handler: async (_request, reply) => {
      text ??= JSON.stringify(document())
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })
}
