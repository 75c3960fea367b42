import { texts } from '../messages.ts'
import type { AccountStatus } from './model.ts'

export function StatusBadge({ status }: { readonly status: AccountStatus }) {
  return <span class={`status status-${status}`}>{texts.operator.statuses[status]}</span>
}
