import { messages } from '../messages.ts'
import { Icon } from './icon.tsx'
import type { Visibility } from './model.ts'

/** Who else can download a file; nothing if nobody can. */
export function VisibilityBadge({ visibility }: { readonly visibility: Visibility }) {
  if (visibility === 'private') return null
  return (
    <span class="badge">
      <Icon name={visibility} />
      {messages.visibility[visibility]}
    </span>
  )
}
