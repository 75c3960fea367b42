import { useRef, useState } from 'preact/hooks'
import { filePath } from '../../shared/connection.ts'
import { CopyField } from '../../shared/copy-field.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import type { FileEntry, Visibility } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { CreatedLink, CreateLink } from '../links/create-link.tsx'
import type { Page } from '../user-page.ts'
import { changeFile, changeProblem } from './file-action.ts'
import { VisibilityField } from './visibility-field.tsx'

const words = messages.share

export interface ShareDialogProps {
  readonly page: Page
  readonly file: FileEntry
  readonly onClose: () => void
}

/** Says who can download a file, shows its address, and creates links to it. */
export function ShareDialog({ page, file, onClose }: ShareDialogProps) {
  const [chosen, setChosen] = useState(file.visibility)
  const [said, setSaid] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isTimed, setTimed] = useState(false)
  const [address, setAddress] = useState<string>()
  const link = page.connection.urlOf(filePath(file.name, file.user_id))
  // Its link is of no use to others.
  const isPrivate = chosen === 'private'

  async function choose(visibility: Visibility): Promise<void> {
    setBusy(true)
    setChosen(visibility)
    try {
      await changeFile(page, file, { visibility })
    } catch (error) {
      setChosen(chosen)
      setSaid(changeProblem(error))
    }
    setBusy(false)
  }

  return (
    <Dialog title={words.title} subject={file.name} onClose={onClose}>
      <VisibilityField
        label={words.who}
        chosen={chosen}
        isBusy={isBusy}
        onChoose={(visibility) => void choose(visibility)}
      />
      <CopyField
        label={words.link}
        value={link}
        words={words}
        isMain={!isPrivate}
        said={said}
        onSaid={setSaid}
      />
      <button
        type="button"
        class={isPrivate ? 'button button-main' : 'button'}
        onClick={() => setTimed(true)}
      >
        {words.timed}
      </button>
      {isTimed && (
        <CreateLink
          page={page}
          name={file.name}
          onCreated={setAddress}
          onClose={() => setTimed(false)}
        />
      )}
      {address !== undefined && (
        <CreatedLink address={address} onClose={() => setAddress(undefined)} />
      )}
    </Dialog>
  )
}

export interface ShareFolderProps {
  readonly page: Page
  readonly folder: string
  readonly onClose: () => void
}

/** Creates a link to a folder, and shows its address. */
export function ShareFolder({ page, folder, onClose }: ShareFolderProps) {
  const [address, setAddress] = useState<string>()
  const isCreated = useRef(false)
  if (address !== undefined) return <CreatedLink address={address} onClose={onClose} />
  return (
    <CreateLink
      page={page}
      prefix={folder}
      onCreated={(created) => {
        isCreated.current = true
        setAddress(created)
      }}
      onClose={() => {
        // It closes itself once there is a link.
        if (!isCreated.current) onClose()
      }}
    />
  )
}
