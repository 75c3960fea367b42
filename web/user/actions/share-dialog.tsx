import { useState } from 'preact/hooks'
import { filePath } from '../../shared/connection.ts'
import { CopyField } from '../../shared/copy-field.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { labelOf } from '../../shared/folder.ts'
import type { FileEntry, Visibility } from '../../shared/model.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { type Entry, nameOf } from '../files/shown-entries.ts'
import { LinksTo } from '../links/links-to.tsx'
import { MakeLinks } from '../links/make-links.tsx'
import { words } from '../links/words.ts'
import type { Page } from '../user-page.ts'
import { changeFile, changeProblem } from './file-action.ts'
import { VisibilityField } from './visibility-field.tsx'

export interface ShareDialogProps {
  readonly page: Page
  readonly entry: Entry
  readonly onClose: () => void
}

/** Makes links to a file or a folder, lists those that there are, and says who can see the file without one. */
export function ShareDialog({ page, entry, onClose }: ShareDialogProps) {
  const [version, setVersion] = useState(0)
  const path = nameOf(entry)
  const isFolder = typeof entry === 'string'
  return (
    <Dialog title={words.title} subject={labelOf(path)} onClose={onClose}>
      <MakeLinks
        page={page}
        paths={[path]}
        hint={isFolder ? words.hint.folder : words.hint.file}
        offersDrops={isFolder}
        onMade={() => setVersion(version + 1)}
      />
      <LinksTo page={page} path={path} version={version} />
      {!isFolder && <FileVisibility page={page} file={entry} />}
    </Dialog>
  )
}

function FileVisibility({ page, file }: { readonly page: Page; readonly file: FileEntry }) {
  const [chosen, setChosen] = useState(file.visibility)
  const [said, setSaid] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function choose(visibility: Visibility): Promise<void> {
    setBusy(true)
    setChosen(visibility)
    try {
      await changeFile(page, file, { visibility })
      setProblem(undefined)
    } catch (error) {
      setChosen(chosen)
      setProblem(changeProblem(error))
    }
    setBusy(false)
  }

  return (
    <details>
      <summary>{words.advanced}</summary>
      <div class="form">
        <VisibilityField
          label={words.who}
          chosen={chosen}
          isBusy={isBusy}
          onChoose={(visibility) => void choose(visibility)}
        />
        <ProblemNotice text={problem} />
        {/* Its address works for nobody else otherwise. */}
        {chosen !== 'private' && (
          <CopyField
            label={words.address}
            value={page.connection.addressOf(filePath(file.name, file.user_id))}
            words={words}
            isMain={false}
            said={said}
            onSaid={setSaid}
          />
        )}
      </div>
    </details>
  )
}
