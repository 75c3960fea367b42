import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { openService } from '../../../src/compose/compose.ts'
import { readConfig } from '../../../src/config/config.ts'
import { Connections } from '../../../src/http/server/connections.ts'
import { buildListeners } from '../../../src/serve.ts'
import { NO_BUILD } from '../../support/http/page.ts'
import { createWatchedLogger } from '../../support/runner/secret-watch.ts'
import { createMemoryFolder } from '../../support/servers/local-server.ts'

export interface RecordedRoutes {
  readonly public: readonly RouteOptions[]
  readonly admin: readonly RouteOptions[]
}

/** The routes of both listeners, with everything that settings can turn on. Nothing listens. */
export async function recordRoutes(): Promise<RecordedRoutes> {
  await using opened = new AsyncDisposableStack()
  const folder = await createMemoryFolder('routes')
  opened.defer(() => folder.remove())
  const config = readConfig({
    DATA_DIR: folder.path,
    MIN_FREE_SPACE: '0',
    ADMIN_TOKEN: 'the-admin-token-of-the-routes',
  })
  const service = await openService(config)
  opened.defer(() => service.close())
  const { routesOf, end } = watchRoutes()
  opened.defer(end)
  const { signal } = new AbortController()
  const listeners = await buildListeners({
    config,
    service,
    logger: createWatchedLogger(),
    connections: new Connections(),
    signals: { stopping: signal, shutdown: signal },
    pages: { user: NO_BUILD, operator: NO_BUILD },
  })
  const routes: (readonly RouteOptions[])[] = []
  for (const { app } of listeners) {
    opened.defer(() => app.close())
    await app.ready()
    routes.push(routesOf(app))
  }
  const [ofPublic = [], ofAdmin = []] = routes
  return { public: ofPublic, admin: ofAdmin }
}

/** Records the routes of every Fastify instance that is created until `end`. */
function watchRoutes() {
  const routes = new WeakMap<FastifyInstance, RouteOptions[]>()
  const watch = (message: unknown): void => {
    const { fastify: app } = message as { readonly fastify: FastifyInstance }
    const own: RouteOptions[] = []
    routes.set(app, own)
    app.addHook('onRoute', (route) => void own.push(route))
  }
  subscribe(CREATED, watch)
  return {
    routesOf: (app: FastifyInstance): readonly RouteOptions[] => routes.get(app) ?? [],
    end: () => void unsubscribe(CREATED, watch),
  }
}

/** The channel on which Fastify announces each instance before it has any route. */
const CREATED = 'fastify.initialization'
