import type { FastifyPluginAsync, HTTPMethods } from 'fastify'
import { AppError } from '../../core/errors.ts'

const METHODS: readonly HTTPMethods[] = [
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

export interface MethodNotAllowedOptions {
  /** The methods that each path answers, by its pattern. */
  readonly allowed: Readonly<Record<string, readonly HTTPMethods[]>>
}

/** Answers every other method on a known path with 405 and `Allow`. */
export const methodNotAllowedRoutes: FastifyPluginAsync<MethodNotAllowedOptions> = async (
  app,
  { allowed },
) => {
  for (const [url, methods] of Object.entries(allowed)) {
    app.route({
      url,
      config: { allowedMethods: methods },
      method: METHODS.filter((method) => !methods.includes(method)),
      // Refused before its body is looked at, whatever type that says it has.
      onRequest: async (_request, reply) => {
        void reply.header('allow', methods.join(', '))
        throw new AppError('method_not_allowed', `Only ${methods.join(', ')} work here.`)
      },
      handler: () => undefined,
    })
  }
}
