import type { preParsingHookHandler, preValidationHookHandler, RouteOptions } from 'fastify'

interface Handlers {
  readonly preParsing: preParsingHookHandler
  readonly preValidation: preValidationHookHandler
}

/**
 * Adds a hook to the route, once: the HEAD route that Fastify makes of a GET route has that one's hooks, and runs
 * `onRoute` again.
 */
export function addRouteHook<N extends keyof Handlers>(
  route: RouteOptions,
  name: N,
  hook: Handlers[N],
): void {
  const hooks = new Set<unknown>([route[name] ?? []].flat())
  Object.assign(route, { [name]: [...hooks.add(hook)] })
}
