import { useState } from 'preact/hooks'
import { messages } from '../messages.ts'
import { linksEnglish } from './link-english.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { formatTime } from './format.ts'
import type { LinkEntry } from './model.ts'
import { Entry, SectionFrame } from './section.tsx'

const words = messages.links ?? linksEnglish

export interface LinkEntriesProps {
  /** Oldest first. */
  readonly links: readonly LinkEntry[]
  readonly revoke: (linkId: string) => Promise<void>
  /** The button that creates a link; omitted where none can be created. */
  readonly add?: string | undefined
  readonly onAdd?: () => void
  /** Called after a change, to read the links again. */
  readonly onChange: () => void
}

/** The links of a user, newest first, to revoke. */
export function LinkEntries({ links, revoke, add, onAdd, onChange }: LinkEntriesProps) {
  const [ending, setEnding] = useState<LinkEntry>()
  return (
    <>
      <SectionFrame
        title={words.title}
        empty={words.empty}
        add={add}
        {...(onAdd !== undefined && { onAdd })}
      >
        {links.toReversed().map((link) => (
          <Entry
            key={link.link_id}
            icon={link.kind === 'drop' ? 'upload' : 'share'}
            name={nameOf(link)}
            details={detailsOf(link)}
            remove={{
              label: words.revokeNamed(distinctNameOf(link)),
              text: words.revoke,
              run: () => setEnding(link),
            }}
          />
        ))}
      </SectionFrame>
      {ending !== undefined && (
        <DeleteDialog
          remove={() => revoke(ending.link_id)}
          title={words.revokeTitle}
          subject={distinctNameOf(ending)}
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

/** Also tells links without a title apart. */
function distinctNameOf(link: LinkEntry): string {
  return link.label === '' && link.name === null
    ? `${words.unnamed}, ${purposeOf(link)}`
    : nameOf(link)
}

/** What a link to several files is for. */
function purposeOf({ kind, prefix }: LinkEntry): string {
  return (kind === 'drop' ? words.takes : words.givesAll)(prefix ?? '')
}

function detailsOf(link: LinkEntry): readonly string[] {
  const { label, name, created_at: since, expires_at: end, uses_left: left } = link
  const isOver = end !== null && Date.parse(end) <= Date.now()
  return [
    // Without a label, the name is the title.
    name === null ? purposeOf(link) : label === '' ? '' : words.gives(name),
    link.has_password ? words.withPassword : '',
    words.since(formatTime(since)),
    end === null ? words.forEver : (isOver ? words.expired : words.until)(formatTime(end)),
    left === null ? '' : words.left(left),
  ]
}
