import type { FastifyInstance, FastifyPluginAsync, HTTPMethods } from 'fastify'
import { AppError } from '../../core/errors.ts'

const METHODS: Methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
]

type Methods = readonly HTTPMethods[]

/**
 * Records the routes that `app` gets from now on. The returned plugin answers other methods on their paths with 405 and
 * `Allow`; register it after them, in the same scope. `elsewhere`: methods served by a route of another pattern.
 */
export function otherMethods(
  app: FastifyInstance,
  elsewhere: Readonly<Record<string, Methods>> = {},
): FastifyPluginAsync {
  const { prefix } = app
  const known = new Map<string, Methods>()
  app.addHook('onRoute', ({ url, method, config }) => {
    const others = known.get(url) ?? elsewhere[url.slice(prefix.length)] ?? []
    known.set(url, [others, method].flat())
    // An inner scope handles this path.
    if (config?.allowedMethods !== undefined) known.delete(url)
  })
  return async (scope) => {
    for (const [url, methods] of known) {
      const allowed = METHODS.filter((method) => methods.includes(method))
      const others = METHODS.filter((method) => !methods.includes(method))
      if (others.length > 0)
        refuse(scope, { url: url.slice(prefix.length) || '/', allowed, others })
    }
  }
}

function refuse(
  app: FastifyInstance,
  route: { readonly url: string; readonly allowed: Methods; readonly others: HTTPMethods[] },
): void {
  const { url, allowed, others } = route
  app.route({
    url,
    config: { allowedMethods: allowed },
    method: others,
    // Runs in `onRequest`, so that the type of the body does not matter.
    onRequest: async (_request, reply) => {
      void reply.header('allow', allowed.join(', '))
      throw new AppError(
        'method_not_allowed',
        `This path supports only these methods: ${allowed.join(', ')}.`,
      )
    },
    handler: () => undefined,
  })
}
