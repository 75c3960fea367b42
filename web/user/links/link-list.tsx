import { useState } from 'preact/hooks'
import { LinkEntries } from '../../shared/link-entries.tsx'
import type { LinkEntry } from '../../shared/model.ts'
import type { Page } from '../user-page.ts'
import { CreateLink } from './create-link.tsx'
import { EditLink } from './edit-link.tsx'
import { CreatedLink } from './made-links.tsx'
import { permittedKinds } from './make-links.tsx'
import { words } from './words.ts'

export interface LinkListProps {
  readonly page: Page
  /** Oldest first. */
  readonly links: readonly LinkEntry[]
  /** Of the links to one file or folder, of which others are made elsewhere. */
  readonly title?: string
  /** Called after a change, to read the links again. */
  readonly onChange: () => void
}

/** The user's links, newest first, to create, change and revoke. */
export function LinkList({ page, links, title, onChange }: LinkListProps) {
  const [isCreating, setCreating] = useState(false)
  const [edited, setEdited] = useState<LinkEntry>()
  const [address, setAddress] = useState<string>()
  const mayCreate = title === undefined && permittedKinds(page.permissions).length > 0
  return (
    <>
      <LinkEntries
        links={links}
        title={title}
        edit={setEdited}
        revoke={(linkId) => page.client.links.revoke(linkId)}
        add={mayCreate ? words.createTitle : undefined}
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
      {edited !== undefined && (
        <EditLink
          page={page}
          link={edited}
          onChange={onChange}
          onRenewed={setAddress}
          onClose={() => setEdited(undefined)}
        />
      )}
      {address !== undefined && (
        <CreatedLink address={address} onClose={() => setAddress(undefined)} />
      )}
    </>
  )
}
