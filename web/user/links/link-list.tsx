import { useState } from 'preact/hooks'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { formatTime } from '../../shared/format.ts'
import type { LinkEntry } from '../../shared/model.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { CreatedLink, CreateLink, permittedKinds } from './create-link.tsx'

const words = messages.links

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
  const [ending, setEnding] = useState<LinkEntry>()
  return (
    <>
      <SectionFrame
        title={words.title}
        empty={words.empty}
        add={permittedKinds(page.permissions).length > 0 ? words.create : undefined}
        onAdd={() => setCreating(true)}
      >
        {links.toReversed().map((link) => (
          <Entry
            key={link.link_id}
            icon={link.kind === 'drop' ? 'upload' : 'share'}
            name={nameOf(link)}
            details={detailsOf(link)}
            remove={{
              label: words.revokeNamed(nameOf(link)),
              text: words.revoke,
              run: () => setEnding(link),
            }}
          />
        ))}
      </SectionFrame>
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
      {ending !== undefined && (
        <DeleteDialog
          remove={() => page.client.links.revoke(ending.link_id)}
          title={words.revokeTitle}
          subject={nameOf(ending)}
          action={words.revoke}
          text={words.revokeText}
          onChange={onChange}
          onClose={() => setEnding(undefined)}
        />
      )}
    </>
  )
}

function nameOf({ label, name }: LinkEntry): string {
  return label === '' ? (name ?? words.unnamed) : label
}

function detailsOf(link: LinkEntry): readonly string[] {
  const { kind, name, prefix, created_at: since, expires_at: end, uses_left: left } = link
  const isOver = end !== null && Date.parse(end) <= Date.now()
  const within = prefix ?? ''
  const purpose = kind === 'drop' ? words.takes(within) : words.givesAll(within)
  return [
    name === null ? purpose : words.gives(name),
    link.has_password ? words.withPassword : '',
    words.since(formatTime(since)),
    end === null ? words.forEver : (isOver ? words.expired : words.until)(formatTime(end)),
    left === null ? '' : words.left(left),
  ]
}
