import { useState } from 'preact/hooks'
import { filePath } from '../../shared/connection.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { failureOf } from '../../shared/error-message.ts'
import { isMarker } from '../../shared/folder.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { VisibilityField } from '../actions/visibility-field.tsx'
import { nameOf } from '../files/shown-entries.ts'
import { MakeLinks } from '../links/make-links.tsx'
import { words } from '../links/words.ts'
import { type SelectionDialogProps, useSharedPrefix } from './archive-dialog.tsx'
import { updateMany } from './change-many.ts'

/** More links are not made at once. */
const MAX_LINKS = 50

/** Makes one link to all of the files if they are a folder, else one to each, and says who can see them without one. */
export function ShareDialog(props: SelectionDialogProps) {
  const { page, onClose } = props
  const [paths] = useState(() => page.selection.entries.value.map(nameOf))
  const shared = useSharedPrefix(props)
  // Visitors see what follows the prefix, so other texts than folders would take a part of the names.
  const folder = shared !== undefined && isMarker(shared) ? shared : undefined
  return (
    <Dialog title={words.title} onClose={onClose}>
      {folder === undefined && paths.length > MAX_LINKS ? (
        <p>{words.hint.tooMany(MAX_LINKS)}</p>
      ) : (
        <MakeLinks
          key={folder}
          page={page}
          paths={folder === undefined ? paths : [folder]}
          hint={folder === undefined ? words.hint.many : words.hint.together}
        />
      )}
      <ManyVisibilities {...props} />
    </Dialog>
  )
}

function ManyVisibilities({ page, files, onClose }: SelectionDialogProps) {
  const [first, ...others] = files.map(({ visibility }) => visibility)
  const [chosen, setChosen] = useState(others.every((each) => each === first) ? first : undefined)
  const [said, setSaid] = useState('')
  const [problem, setProblem] = useState<string>()
  const areShown = files.every(({ visibility }) => visibility !== 'private')

  async function change(): Promise<void> {
    if (chosen === undefined) return
    try {
      await updateMany(page, {
        kind: 'share',
        files: files.filter(({ visibility }) => visibility !== chosen),
        change: { visibility: chosen },
        before: ({ visibility }) => ({ visibility }),
      })
      onClose()
    } catch (error) {
      setProblem(failureOf(error))
    }
  }

  async function copy(): Promise<void> {
    const urls = files.map(({ name, user_id: id }) => page.connection.addressOf(filePath(name, id)))
    try {
      await navigator.clipboard.writeText(urls.join('\n'))
      setSaid(words.copied)
    } catch {
      setSaid(words.notCopied)
    }
  }

  return (
    <details>
      <summary>{words.advanced}</summary>
      <div class="form">
        <VisibilityField label={words.whoMany} chosen={chosen} onChoose={setChosen} />
        <ProblemNotice text={problem} />
        <button
          type="button"
          class="button"
          disabled={chosen === undefined}
          onClick={() => void change()}
        >
          {words.change}
        </button>
        {areShown && (
          <>
            <button type="button" class="button" onClick={() => void copy()}>
              {words.addresses}
            </button>
            <p class="said" role="status">
              {said}
            </p>
          </>
        )}
      </div>
    </details>
  )
}
