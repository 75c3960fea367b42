import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { sendProblem } from '../../server/problem.ts'
import { otherMethods } from '../../routes/method-not-allowed.ts'
import { linkDownloadRoutes } from './downloads.ts'
import { dropRoutes } from './drops.ts'
import { unlockLinkRoutes } from './unlock-link.ts'
import { viewLinkRoutes } from './view-link.ts'
import { LINK_UPLOAD_PATH, LINK_UPLOADS_PATH, type LinkOptions, requireLink } from './visitor.ts'
import { toldToVisitor } from './visitor-problems.ts'

/** What people without an account can do with a link. Access tokens are ignored here. */
export async function linkRoutes(app: FastifyInstance, options: LinkOptions): Promise<void> {
  // The routes of files serve these.
  const others = otherMethods(app, {
    [LINK_UPLOADS_PATH]: ['GET', 'HEAD', 'PUT'],
    [LINK_UPLOAD_PATH]: ['GET', 'PUT'],
  })
  await app.register(fastifyCookie, { hook: false })
  app.decorateRequest('subject', null)
  app.setErrorHandler((error, request, reply) =>
    sendProblem(toldToVisitor(error, request), request, reply),
  )
  await app.register(viewLinkRoutes, options)
  await app.register(unlockLinkRoutes, options)
  await app.register(async (scope) => {
    scope.addHook('onRequest', requireLink(options))
    await scope.register(linkDownloadRoutes, options)
    await scope.register(dropRoutes, options)
  })
  await app.register(others)
}
