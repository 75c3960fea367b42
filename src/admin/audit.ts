import type { FastifyRequest } from 'fastify'

/** A change that an operator made: what was done, to whom, and on what terms; never a secret. */
export type Change = Readonly<
  { action: string; user_id: string } & Record<string, string | number | boolean | null | undefined>
>

/** Writes a line of log about a change that has been made, whatever `LOG_LEVEL` says. */
export function audit(request: FastifyRequest, change: Change): void {
  const line = { audit: true, ...change, address: request.ip }
  request.log.child({}, { level: 'info' }).info(line, 'audit')
}
