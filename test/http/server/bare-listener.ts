import type { FastifyInstance } from 'fastify'
import { Connections } from '../../../src/http/server/connections.ts'
import {
  createListener,
  type ListenerContext,
  type ListenerOptions,
} from '../../../src/http/server/listener.ts'

/** A listener without routes, log or proxies. */
export function createBareListener(
  context: Partial<ListenerContext> = {},
  options: ListenerOptions = {},
): Promise<FastifyInstance> {
  const [stopping, shutdown] = [new AbortController().signal, new AbortController().signal]
  const bare = {
    logger: undefined,
    trustedProxies: [],
    connections: new Connections(),
    signals: { stopping, shutdown },
  }
  return createListener({ ...bare, ...context }, options)
}
