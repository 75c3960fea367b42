import { messages } from '../messages.ts'
import type { AccountStatus } from './model.ts'

export function StatusBadge({ status }: { readonly status: AccountStatus }) {
  return <span class={`status status-${status}`}>{messages.operator.statuses[status]}</span>
}
