import { useState } from 'preact/hooks'
import { messages } from '../messages.ts'
import { linksEnglish } from './link-english.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { isMarker, labelOf } from './folder.ts'
import { formatTime } from './format.ts'
import type { LinkEntry } from './model.ts'
import { Entry, SectionFrame } from './section.tsx'

const words = messages.links ?? linksEnglish

export interface LinkEntriesProps {
  /** Oldest first. */
  readonly links: readonly LinkEntry[]
  /** Instead of that of all links. */
  readonly title?: string | undefined
  /** Omitted where they cannot be changed. */
  readonly edit?: (link: LinkEntry) => void
  /** Omitted as `edit` is. */
  readonly revoke?: (linkId: string) => Promise<void>
  /** The button that creates a link; omitted where none can be created. */
  readonly add?: string | undefined
  readonly onAdd?: () => void
  /** Called after a change, to read the links again. */
  readonly onChange: () => void
}

/** The links of a user, newest first, to change and to revoke. */
export function LinkEntries(props: LinkEntriesProps) {
  const { links, title = words.title, edit, revoke, add, onAdd, onChange } = props
  const [ending, setEnding] = useState<LinkEntry>()
  return (
    <>
      <SectionFrame
        title={title}
        empty={words.empty}
        add={add}
        {...(onAdd !== undefined && { onAdd })}
      >
        {links.toReversed().map((link) => (
          <Entry
            key={link.link_id}
            icon={link.kind === 'drop' ? 'upload' : 'share'}
            name={titleOf(link)}
            details={detailsOf(link)}
            {...(edit !== undefined && {
              action: {
                label: words.editNamed(nameOfLink(link)),
                text: words.edit,
                run: () => edit(link),
              },
            })}
            {...(revoke !== undefined && {
              remove: {
                label: words.revokeNamed(nameOfLink(link)),
                text: words.revoke,
                run: () => setEnding(link),
              },
            })}
          />
        ))}
      </SectionFrame>
      {ending !== undefined && revoke !== undefined && (
        <DeleteDialog
          remove={() => revoke(ending.link_id)}
          title={words.revokeTitle}
          subject={nameOfLink(ending)}
          action={words.revoke}
          text={words.revokeText}
          onChange={onChange}
          onClose={() => setEnding(undefined)}
        />
      )}
    </>
  )
}

/** Without a title, the name of its file or folder. */
function titleOf({ label, name, prefix }: LinkEntry): string {
  if (label !== '') return label
  if (name !== null) return name
  return prefix !== null && isMarker(prefix) ? labelOf(prefix) : words.unnamed
}

/** Its title, or what tells it from other links without one. */
export function nameOfLink(link: LinkEntry): string {
  const title = titleOf(link)
  return link.label === '' && link.name === null ? `${title}, ${purposeOf(link)}` : title
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
    ...receivedBy(link),
  ]
}

/** What a drop link has received, of what it may. */
function receivedBy({ max_files: files, files_left, max_bytes: bytes, bytes_left }: LinkEntry) {
  return [
    files === null || files_left === null ? '' : words.receivedFiles(files - files_left, files),
    bytes === null || bytes_left === null ? '' : words.receivedBytes(bytes - bytes_left, bytes),
  ]
}
