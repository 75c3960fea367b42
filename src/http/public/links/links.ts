import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { sendProblem } from '../../server/problem.ts'
import type { PageFile } from '../../pages/static-assets.ts'
import { otherMethods } from '../../shared-routes/method-not-allowed.ts'
import { type LinkArchiveOptions, linkArchiveRoutes } from './link-archive.ts'
import { linkFileRoutes } from './link-files.ts'
import { type LinkUploadOptions, linkUploadRoutes } from './link-uploads.ts'
import { viewLinkRoutes } from './view-link.ts'
import { requireLink } from './visit.ts'
import { toldToVisitor } from './visitor-problems.ts'

export interface LinkOptions extends LinkUploadOptions, LinkArchiveOptions {
  readonly allowedOrigins: readonly string[]
  /** Shown to browsers; without it, they get the JSON too. */
  readonly page: PageFile | undefined
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
  const { links, repository, readInTurn, basePath, page } = options
  await app.register(viewLinkRoutes, {
    links,
    repository,
    readInTurn,
    basePath,
    allowedOrigins,
    page,
  })
  await app.register(async (scope) => {
    scope.addHook('onRequest', requireLink({ links, allowedOrigins }))
    await scope.register(linkFileRoutes, options)
    await scope.register(linkArchiveRoutes, options)
    await scope.register(linkUploadRoutes, options)
  })
  await app.register(others)
}
