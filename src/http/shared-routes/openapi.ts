import type { FastifyPluginAsync } from 'fastify'
import { docsPage, styleSource } from '../docs/page.ts'
import { SECURITY_HEADERS } from '../server/cors.ts'
import type { Json } from '../openapi/json.ts'
import type { Operation } from '../openapi/operation.ts'

export interface OpenApiOptions {
  /** Makes the document, once all routes are there. */
  readonly document: () => Json
  /** Who gets it. */
  readonly credentials: 'required' | 'none'
}

/** `GET /openapi.json`: what can be asked of this listener, and all that it answers. `GET /docs`: the same for people. */
export const openApiRoutes: FastifyPluginAsync<OpenApiOptions> = async (app, options) => {
  const { document, credentials } = options
  let text: string | undefined
  let page: string | undefined
  // As of every answer, so no script and nothing that is loaded, but with the page's own style.
  const policy = `${SECURITY_HEADERS['content-security-policy']}; base-uri 'none'; style-src ${styleSource()}`
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    config: { operation: { ...OPENAPI, credentials } },
    handler: async (_request, reply) => {
      text ??= JSON.stringify(document())
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/docs',
    config: { operation: { ...DOCS, credentials } },
    handler: async (_request, reply) => {
      page ??= docsPage(document())
      void reply.header('content-security-policy', policy)
      return reply.type('text/html; charset=utf-8').send(page)
    },
  })
}

const OPENAPI: Operation = {
  operationId: 'getOpenApi',
  summary: 'This document',
  tag: 'about',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      content: { 'application/json': { schema: { type: 'object' } } },
    },
  },
}

const DOCS: Operation = {
  operationId: 'getDocs',
  summary: 'This document as a page for people',
  tag: 'about',
  responses: {
    200: { description: 'A page without scripts.', content: { 'text/html': {} } },
  },
}
