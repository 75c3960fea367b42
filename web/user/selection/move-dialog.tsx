import { useState } from 'preact/hooks'
import { problemOf } from '../../shared/connection.ts'
import { failureOf } from '../../shared/error-message.ts'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { messages } from '../../messages.ts'
import { isFileName } from '../../shared/file-name.ts'
import { SEPARATOR, typedName } from '../folders/folder.ts'
import type { SelectionDialogProps } from './archive-dialog.tsx'
import { moveMany } from './change-many.ts'
import { commonFolder, type Move, planMoves, takenNames } from './moves.ts'

const words = messages.selection.move

/** Shown of the new names. */
const PREVIEW = 5

/** Moves files to another folder, or replaces another beginning of their names. */
export function MoveDialog({ page, files, onClose }: SelectionDialogProps) {
  const { list, permissions } = page
  const [folder] = useState(() => commonFolder(files.map(({ name }) => name)))
  const [from, setFrom] = useState(folder)
  const [to, setTo] = useState(folder)
  const isFolder = from === '' || from.endsWith(SEPARATOR)
  const isOpenEnded = isFolder && to !== '' && !to.endsWith(SEPARATOR)
  const moves = planMoves(files, { from, to: isOpenEnded ? to + SEPARATOR : to })
  const taken = takenNames(moves, list.files.value)
  const problem = faultOf()
  const staying = files.filter(({ name }) => !name.startsWith(from)).length

  function faultOf(): string | undefined {
    if (!moves.every(({ name }) => isFileName(name))) return messages.rename.invalid
    if (!moves.every(({ name }) => name === permissions.within(name)))
      return messages.rename.outside(permissions.prefix())
    return taken.size > 0 ? words.taken(taken.size) : undefined
  }

  return (
    <FormDialog
      title={words.title}
      action={moves.length === 0 ? words.title : words.action(moves.length)}
      isReady={moves.length > 0 && problem === undefined}
      problemOf={refusalOf}
      submit={() => moveMany(page, moves)}
      onClose={onClose}
    >
      <TextField
        label={isFolder ? words.folder : words.to}
        hint={words.hint}
        value={to}
        isFirst
        onInput={(text) => setTo(typedName(text))}
      />
      <details>
        <summary>{words.other}</summary>
        <TextField label={words.from} value={from} onInput={(text) => setFrom(typedName(text))} />
      </details>
      {staying > 0 && <p class="quiet">{words.stay(staying)}</p>}
      <Preview moves={moves} taken={taken} />
      <ProblemNotice text={problem} />
    </FormDialog>
  )
}

interface PreviewProps {
  readonly moves: readonly Move[]
  readonly taken: ReadonlySet<string>
}

/** The first new names, those that are taken before others. */
function Preview({ moves, taken }: PreviewProps) {
  if (moves.length === 0) return null
  const [clashing, free] = [true, false].map((isTaken) =>
    moves.filter(({ name }) => taken.has(name) === isTaken),
  )
  const shown = [...(clashing ?? []), ...(free ?? [])].slice(0, PREVIEW)
  const further = moves.length - shown.length
  return (
    <section class="moves">
      <h3 class="quiet">{words.result}</h3>
      <ul>
        {shown.map(({ file, name }) => (
          <li key={file.name} class={taken.has(name) ? 'bad' : undefined}>
            <ShownName name={name} />
          </li>
        ))}
      </ul>
      {further > 0 && <p class="quiet">{words.further(further)}</p>}
    </section>
  )
}

/** Why not all were moved. Of a refused file, the service says only the place in its batch. */
function refusalOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = problemOf(cause)?.code
  if (code === 'file_exists') return words.taken(1)
  const hasChanged = code === 'not_found' || code === 'precondition_failed'
  return hasChanged ? messages.rename.gone : failureOf(cause)
}
