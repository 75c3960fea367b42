import { useState } from 'preact/hooks'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { nameOfLink } from '../../shared/link-entries.tsx'
import type { LinkEntry } from '../../shared/model.ts'
import type { Page } from '../user-page.ts'
import { changesIn, draftOf } from './link-draft.ts'
import { LinkEnd, LinkFields } from './link-fields.tsx'
import { refusedLimit } from './link-refusal.ts'
import { TERMS } from './make-links.tsx'
import { words } from './words.ts'

export interface EditLinkProps {
  readonly page: Page
  readonly link: LinkEntry
  /** Called after the link was changed. */
  readonly onChange: () => void
  /** Called with the new address of the link. */
  readonly onRenewed: (address: string) => void
  readonly onClose: () => void
}

/** Changes the terms of a link, or gives it a new address. */
export function EditLink(props: EditLinkProps) {
  const { page, link, onChange, onClose } = props
  const { client, permissions } = page
  const [draft, setDraft] = useState(() => draftOf(link))
  const [isRenewing, setRenewing] = useState(false)

  async function save(): Promise<void> {
    const changes = changesIn(draft, link)
    if (Object.keys(changes).length === 0) return
    await client.links.update(link.link_id, changes)
    onChange()
  }

  if (isRenewing) return <RenewLink {...props} />
  return (
    <FormDialog
      title={words.editTitle}
      subject={nameOfLink(link)}
      action={words.save}
      problemOf={refusedLimit}
      submit={save}
      onClose={onClose}
    >
      <LinkEnd link={link} draft={draft} terms={permissions.terms(TERMS)} onChange={setDraft} />
      <LinkFields kind={link.kind} link={link} draft={draft} onChange={setDraft} />
      <button type="button" class="button" onClick={() => setRenewing(true)}>
        {words.renew}
      </button>
    </FormDialog>
  )
}

function RenewLink({ page, link, onChange, onRenewed, onClose }: EditLinkProps) {
  const { client, connection } = page

  async function renew(): Promise<void> {
    const { secret } = await client.links.renewSecret(link.link_id)
    onRenewed(connection.addressOf(`links/${secret}`))
    onChange()
  }

  return (
    <FormDialog
      title={words.renewTitle}
      subject={nameOfLink(link)}
      action={words.renewAction}
      isGrave
      submit={renew}
      onClose={onClose}
    >
      <p>{words.renewText}</p>
    </FormDialog>
  )
}
