import { useState } from 'preact/hooks'
import { LinkEntries } from '../../shared/link-entries.tsx'
import type { LinkEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { linksEnglish } from '../../shared/link-english.ts'
import type { Page } from '../user-page.ts'
import { CreatedLink, CreateLink, permittedKinds } from './create-link.tsx'

const words = messages.links ?? linksEnglish

export interface LinkListProps {
  readonly page: Page
  /** Oldest first. */
  readonly links: readonly LinkEntry[]
  /** Called after a change, to read the links again. */
  readonly onChange: () => void
}

/** The user's links, newest first, to create and to revoke. */
export function LinkList({ page, links, onChange }: LinkListProps) {
  const [isCreating, setCreating] = useState(false)
  const [address, setAddress] = useState<string>()
  return (
    <>
      <LinkEntries
        links={links}
        revoke={(linkId) => page.client.links.revoke(linkId)}
        add={permittedKinds(page.permissions).length > 0 ? words.create : undefined}
        onAdd={() => setCreating(true)}
        onChange={onChange}
      />
      {isCreating && (
        <CreateLink
          page={page}
          onCreated={(created) => {
            setAddress(created)
            onChange()
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {address !== undefined && (
        <CreatedLink address={address} onClose={() => setAddress(undefined)} />
      )}
    </>
  )
}
