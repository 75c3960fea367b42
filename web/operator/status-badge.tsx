import { operatorWords } from './words.ts'
import type { User } from '../../packages/js/src/admin.ts'

export function StatusBadge({ status }: { readonly status: User['status'] }) {
  return <span class={`status status-${status}`}>{operatorWords.statuses[status]}</span>
}
