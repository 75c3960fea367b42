import { messages } from '../messages.ts'
import type { User } from '../../packages/js/src/admin.ts'

export function StatusBadge({ status }: { readonly status: User['status'] }) {
  return <span class={`status status-${status}`}>{messages.operator.statuses[status]}</span>
}
