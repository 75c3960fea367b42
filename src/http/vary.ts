import type { FastifyReply } from 'fastify'

/** Adds to `Vary` the headers of the request that the answer depends on; a cache must not give it to another. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const known = String(reply.getHeader('vary') ?? '').split(', ')
  const all = new Set([...known.filter((name) => name !== ''), ...names])
  void reply.header('vary', [...all].join(', '))
}
