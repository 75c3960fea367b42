import type { FastifyInstance } from 'fastify'
import type { DownloadRedirect } from '../../core/objects/download-urls.ts'
import type { Downloads } from '../download/downloads.ts'
import type { PageFile, WebPage } from '../pages/static-assets.ts'
import { createListener, type ListenerContext } from '../server/listener.ts'
import type { RequestMeter } from '../server/request-outcome.ts'
import { cookieBaseOf, type ServiceAddress } from '../server/service-address.ts'
import { healthRoutes } from '../routes/health.ts'
import { otherMethods } from '../routes/method-not-allowed.ts'
import { nameFault } from '../routes/name-fault.ts'
import { openApiRoutes } from '../routes/openapi.ts'
import { pageScope } from '../routes/page.ts'
import { linkRoutes } from './links/links.ts'
import { createListingTurns } from './listing-turns.ts'
import { LoopShares } from './loop-shares.ts'
import { ownSessionRoutes, sessionRoutes } from './session.ts'
import type { Limits, PublicUseCases } from './user-plugin.ts'
import { addUserRoutes } from './user-routes.ts'

export interface AppOptions {
  readonly meter: RequestMeter
  readonly useCases: PublicUseCases
  readonly limits: Limits & {
    /** Maximum number of listings that are read at the same time. */
    readonly listings: number
  }
  readonly downloads: Downloads
  readonly address: ServiceAddress
  /** Other origins whose pages may use the API with the user's cookie. */
  readonly allowedOrigins: readonly string[]
  /** If unset, the service sends all contents itself. */
  readonly redirect: DownloadRedirect | undefined
  /** If unset, the API does not describe itself. */
  readonly apiDocs: { readonly page: PageFile | undefined } | undefined
  /** If unset, nobody signs in: neither the page nor `POST /session` exists. */
  readonly page: WebPage | undefined
  /** What browsers show for a link; JSON if unset. */
  readonly linkPage: PageFile | undefined
}

/** Builds the public listener. The registrations, in order, are the map of the API. */
export async function buildApp(
  context: ListenerContext,
  options: AppOptions,
): Promise<FastifyInstance> {
  const { meter, useCases, limits, downloads, address, allowedOrigins, apiDocs, page } = options
  const { accessTokens, readiness } = useCases
  const pathFault = (url?: string) => nameFault(FILE_PATH, url)
  const app = await createListener(context, { meter, allowedOrigins, pathFault })
  const { basePath: prefix } = address
  const others = otherMethods(app)
  const isRefusing = () => downloads.slots.isRefusing()
  await app.register(healthRoutes, { readiness, isRefusing, prefix })
  if (apiDocs !== undefined) {
    await app.register(openApiRoutes, {
      docs: apiDocs.page,
      document: 'openapi.json',
      base: address.base,
      hasSignIn: page !== undefined,
      credentials: 'none',
      prefix,
    })
  }
  const shares = new LoopShares()
  app.addHook('onResponse', async (request) => shares.note(request))
  const readInTurn = createListingTurns({ shares, atOnce: limits.listings })
  const { redirect } = options
  const own = {
    useCases,
    limits,
    downloads,
    redirect,
    address,
    allowedOrigins,
    shares,
    readInTurn,
  }
  await app.register((scope) => addUserRoutes(scope, own), { prefix })
  const linking = {
    useCases,
    downloads,
    readInTurn,
    address,
    allowedOrigins,
    page: options.linkPage,
  }
  await app.register((scope) => linkRoutes(scope, linking), { prefix })
  if (page === undefined) {
    await app.register(ownSessionRoutes, { accessTokens, allowedOrigins, prefix })
  } else {
    const session = async (scope: FastifyInstance) => {
      await scope.register(ownSessionRoutes, { accessTokens, allowedOrigins })
      await scope.register(sessionRoutes, { accessTokens, basePath: cookieBaseOf(address) })
    }
    await app.register(pageScope, { page, session, allowedOrigins, prefix })
  }
  await app.register(others)
  return app
}

/** The paths of files up to the name. Only a user's has a part behind the owner. */
const FILE_PATH = /\/(?:users\/(?=[^/?]+\/repo\/)|links\/)([^/?]+)\/[^?]/
