import type { AuditTrail } from '../../core/audit/audit-trail.ts'
import type { AccessTokens } from '../../core/auth/access-tokens.ts'
import type { Repository } from '../../core/repository.ts'
import type { History } from '../../core/history/history.ts'
import type { Links } from '../../core/links/links.ts'
import type { InstanceReader } from '../../core/overview/instance.ts'
import type { Operators } from '../../core/operators/operators.ts'
import type { OverviewReader } from '../../core/overview/overview.ts'
import type { Grants } from '../../core/quota/grants.ts'
import type { ResumableUploads } from '../../core/resumable/resumable-uploads.ts'
import type { Users } from '../../core/users/users.ts'
import type { ParkedWebhooks } from '../../core/webhooks/parked-webhooks.ts'
import type { FastifyPluginAsyncTypebox } from '../openapi/type.ts'
import type { Audit } from './audit.ts'

/** Routes of operators, and what they are given. */
export type OperatorPlugin = FastifyPluginAsyncTypebox<OperatorRoutesOptions>

export interface OperatorRoutesOptions {
  readonly useCases: OperatorUseCases
  readonly audit: Audit
}

/** What operators do, by the admin API and by the command line. */
export interface OperatorUseCases {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly repository: Pick<Repository, 'list' | 'remove'>
  readonly history: Pick<History, 'list' | 'restore'>
  readonly uploads: Pick<ResumableUploads, 'list' | 'cancel'>
  readonly links: Pick<Links, 'list' | 'update' | 'revoke'>
  readonly parkedWebhooks: ParkedWebhooks
  readonly overview: OverviewReader
  readonly instance: InstanceReader
  readonly operators: Operators
  readonly auditTrail: AuditTrail
}
