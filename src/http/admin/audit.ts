import type { FastifyRequest } from 'fastify'
import { addressOf } from '../server/request-head.ts'

/** A change made by an operator. Never contains a secret. */
export type Change = Readonly<
  { action: string; user_id: string } & Record<string, string | number | boolean | null | undefined>
>

export interface Access {
  readonly action: 'session.open' | 'session.close' | 'admin_token.refuse' | 'overview.read'
}

/** Logs an audit event at any `LOG_LEVEL`. */
export function audit(request: FastifyRequest, event: Change | Access): void {
  const line = { audit: true, ...event, address: addressOf(request) }
  request.log.child({}, { level: 'info' }).info(line, 'audit event')
}
