import { LinkEntries } from '../../shared/link-entries.tsx'
import type { SectionProps } from './section-props.ts'

/** Empty for a user without links, as most are. */
export function LinkSection({ page, user, record, onChange }: SectionProps) {
  if (record.links.length === 0) return null
  return (
    <LinkEntries
      links={record.links}
      {...(page.may('support') && { revoke: (linkId) => user.links.revoke(linkId) })}
      onChange={onChange}
    />
  )
}
