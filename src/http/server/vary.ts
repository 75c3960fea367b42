import type { FastifyReply } from 'fastify'

/** Adds to `Vary` the headers of the request that the answer depends on; a cache must not give it to another. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): void {
  const given = reply.getHeader('vary')
  const known = given === undefined ? [] : String(given).split(', ')
  const all = [...known, ...names.filter((name) => !known.includes(name))]
  void reply.header('vary', all.join(', '))
}
