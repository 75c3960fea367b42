import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { sendProblem } from '../../server/problem.ts'
import { otherMethods } from '../../shared-routes/method-not-allowed.ts'
import { linkFileRoutes } from './link-files.ts'
import { type LinkUploadOptions, linkUploadRoutes } from './link-uploads.ts'
import { viewLinkRoutes, type ViewLinkOptions } from './view-link.ts'
import { requireLink } from './visit.ts'
import { toldToVisitor } from './visitor-problems.ts'

export interface LinkOptions
  extends LinkUploadOptions, Pick<ViewLinkOptions, 'readInTurn' | 'page'> {
  readonly allowedOrigins: readonly string[]
}

/** What people without an account can do with a link. Access tokens are ignored here. */
export async function linkRoutes(app: FastifyInstance, options: LinkOptions): Promise<void> {
  const others = otherMethods(app)
  const allowedOrigins = new Set(options.allowedOrigins)
  await app.register(fastifyCookie, { hook: false })
  app.decorateRequest('visit', null)
  app.setErrorHandler((error, request, reply) =>
    sendProblem(toldToVisitor(error, request), request, reply),
  )
  await app.register(viewLinkRoutes, { ...options, allowedOrigins })
  await app.register(async (scope) => {
    const { links, shutdown } = options
    scope.addHook('onRequest', requireLink({ links, allowedOrigins, shutdown }))
    await scope.register(linkFileRoutes, options)
    await scope.register(linkUploadRoutes, options)
  })
  await app.register(others)
}
