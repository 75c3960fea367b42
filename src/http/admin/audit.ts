import type { FastifyRequest } from 'fastify'
import type { AuditTrail, OperatorEvent } from '../../core/audit/audit-trail.ts'
import { addressOf } from '../server/forwarded.ts'

/**
 * Logs and records what an operator did: after it took effect, and before the answer. A crash in between can leave an
 * action that is in neither, or in the log alone. Never rejects: if the action can't be recorded, the log has the cause,
 * and the answer stands.
 */
export type Audit = (request: FastifyRequest, event: OperatorEvent) => Promise<void>

/** For routes that operators are accountable for. */
export interface Audited {
  readonly audit: Audit
}

export function createAudit(auditTrail: Pick<AuditTrail, 'record'>): Audit {
  return async (request, event) => {
    logAudit(request, event)
    const origin = { operator: nameOf(request), address: addressOf(request), requestId: request.id }
    try {
      await auditTrail.record(event, origin)
    } catch (err) {
      const { action } = event
      request.log.error({ err, action }, 'recording the action of an operator failed')
    }
  }
}

/** What is logged, but not recorded: a stranger can cause the first, and the page the other every 15 s. */
interface Access {
  readonly action: 'admin_token.refuse' | 'overview.read'
}

/** Logs an audit event at any `LOG_LEVEL`. */
export function logAudit(request: FastifyRequest, event: OperatorEvent | Access): void {
  const line = { audit: true, ...event, operator: nameOf(request), address: addressOf(request) }
  request.log.child({}, { level: 'info' }).info(line, 'audit event')
}

function nameOf({ operator }: FastifyRequest): string | undefined {
  return operator?.name
}
