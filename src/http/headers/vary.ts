import type { FastifyReply } from 'fastify'

/** Adds names that `Vary` does not have yet. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const given = reply.getHeader('vary')
  const known = given === undefined ? [] : String(given).split(', ')
  void reply.header('vary', [...new Set([...known, ...names])].join(', '))
}
