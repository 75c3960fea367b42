import type { OperatorAction } from '../../../packages/js/src/admin.ts'
import { formatCount } from '../../shared/format.ts'

/** In English. They are not in `messages`, all of which the first visit of the users' page loads. */
export const auditEnglish = {
  title: 'Audit trail',
  of: (userId: string) => `Audit trail of ${userId}`,
  empty: 'Nothing has been done yet.',
  commandLine: 'command line',
  files: (count: number) => `files: ${formatCount(count)}`,
  /** Of a device. */
  share: (size: string) => `share: ${size}`,
  shares: { all: 'the whole account', own: 'what it adds' },
  actions: {
    'user.create': 'User created',
    'user.set_status': 'Status set',
    'user.delete': 'User deleted',
    'access_token.issue': 'Access token issued',
    'access_token.revoke': 'Access token revoked',
    'device.put': 'Device added or changed',
    'device.remove': 'Device removed',
    'grant.put': 'Capacity granted',
    'grant.revoke': 'Grant revoked',
    'upload.cancel': 'Upload discarded',
    'files.list': 'Files listed',
    'files.archive': 'Files downloaded',
    'file.delete': 'File deleted',
    'history.restore': 'File restored',
    'link.update': 'Link changed',
    'link.revoke': 'Link revoked',
    'webhook.retry': 'Event sent again',
    'webhook.discard': 'Event discarded',
    'operator.add': 'Operator added',
    'operator.remove': 'Operator removed',
    'session.open': 'Operator signed in',
    'session.close': 'Operator signed out',
  } satisfies Record<OperatorAction['action'], string>,
}

export type AuditMessages = typeof auditEnglish
