import { useState } from 'preact/hooks'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { folderOf } from '../../shared/folder.ts'
import type { LinkKind } from '../../shared/model.ts'
import { TextField } from '../../shared/text-field.tsx'
import type { Page } from '../user-page.ts'
import { LinkEnd, LinkFields } from './link-fields.tsx'
import { refusedLimit } from './link-refusal.ts'
import { typedFolder } from './link-target.ts'
import { createLink, KindField, permittedKinds, useNewDraft } from './make-links.tsx'
import { words } from './words.ts'

export interface CreateLinkProps {
  readonly page: Page
  /** Called after the link was created, with its address. */
  readonly onCreated: (address: string) => void
  readonly onClose: () => void
}

/** Asks for the folder and the terms of a link, and creates it. */
export function CreateLink({ page, onCreated, onClose }: CreateLinkProps) {
  const { permissions } = page
  const kinds = permittedKinds(permissions)
  const [kind, setKind] = useState<LinkKind>(kinds[0] ?? 'download')
  const [folder, setFolder] = useState(() => folderOf(permissions.prefix()))
  const { terms, draft, setDraft } = useNewDraft(permissions)

  async function create(): Promise<void> {
    const target = { prefix: permissions.within(typedFolder(folder)) }
    onCreated(await createLink(page, { kind, target, draft }))
    // Before the next dialog opens, so that the focus returns to what has opened this one.
    onClose()
  }

  return (
    <FormDialog
      title={words.createTitle}
      action={words.createAction}
      problemOf={refusedLimit}
      submit={create}
      onClose={onClose}
    >
      <KindField kinds={kinds} kind={kind} onChange={setKind} />
      <TextField
        label={words.folder}
        hint={words.folderHints[kind]}
        value={folder}
        onInput={setFolder}
      />
      <LinkEnd draft={draft} terms={terms} onChange={setDraft} />
      <LinkFields kind={kind} draft={draft} onChange={setDraft} />
    </FormDialog>
  )
}
