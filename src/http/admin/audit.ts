import type { FastifyRequest } from 'fastify'
import { addressOf } from '../server/request-head.ts'

/** A change that an operator made: what was done, to whom, and on what terms; never a secret. */
export type Change = Readonly<
  { action: string; user_id: string } & Record<string, string | number | boolean | null | undefined>
>

/** A browser was given a session to keep, or forgot it; or a token or session was shown that is not a right one. */
export interface Access {
  readonly action: 'session.open' | 'session.close' | 'admin_token.refuse'
}

/** Writes a line of log about what has happened, whatever `LOG_LEVEL` says. */
export function audit(request: FastifyRequest, event: Change | Access): void {
  const line = { audit: true, ...event, address: addressOf(request) }
  request.log.child({}, { level: 'info' }).info(line, 'audit')
}
