import { useState } from 'preact/hooks'
import { isProblem } from '../../../packages/js/src/errors.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { isSegment } from '../../shared/file-name.ts'
import type { FileEntry } from '../../shared/model.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { messages } from '../../messages.ts'
import { type Entry, nameOf } from '../files/shown-entries.ts'
import { labelOf, parentOf, SEPARATOR } from '../../shared/folder.ts'
import { checkMoves, checkRename, moveEntries, offerBack } from '../moves/move-entries.ts'
import type { Page } from '../user-page.ts'
import { changeProblem, showChanged } from './file-action.ts'

const words = messages.rename

export interface RenameDialogProps {
  readonly page: Page
  readonly entry: Entry
  readonly onClose: () => void
}

/** Asks for the new name of a file or a folder, and before a file replaces another one. */
export function RenameDialog({ page, entry, onClose }: RenameDialogProps) {
  const { permissions } = page
  const before = labelOf(nameOf(entry))
  const [label, setLabel] = useState(before)
  const [problem, setProblem] = useState<string>()
  const [isTaken, setTaken] = useState(false)

  async function rename(overwrite: boolean): Promise<void> {
    if (label === before) return onClose()
    try {
      if (!isSegment(label)) return setProblem(words.invalid)
      const to = parentOf(nameOf(entry)) + label
      if (typeof entry === 'string') await renameFolder(entry, to + SEPARATOR)
      else await renameFile(entry, to, overwrite)
      onClose()
    } catch (error) {
      setTaken(isProblem(error, 'file_exists') && permissions.may('replace'))
      setProblem(renameProblem(error, label))
    }
  }

  async function renameFolder(folder: string, to: string): Promise<void> {
    const moves = [{ entry: folder, to }]
    await checkMoves(page, moves)
    // It says itself how far it is.
    void moveEntries(page, moves, words.done(before))
  }

  async function renameFile(file: FileEntry, to: string, overwrite: boolean): Promise<void> {
    // The service says whether a file has the name, which the user may replace.
    await checkRename(page, { entry: file, to })
    const options = { ifMatch: file.etag, overwrite }
    const renamed = await page.client.files.rename(file.name, to, options)
    page.list.destination.value = to
    showChanged(page, file, renamed)
    const back = [{ entry: renamed, to: file.name }]
    // A file that was replaced would not come back.
    if (!overwrite) offerBack(page, back, words.done(before))
  }

  return (
    <Dialog title={words.title} subject={before} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void rename(false)
        }}
      >
        <label for="new-name">{words.label}</label>
        <input
          id="new-name"
          class="field"
          value={label}
          ref={typeof entry === 'string' ? selectAll : selectStem}
          spellcheck={false}
          aria-invalid={problem !== undefined}
          onInput={({ currentTarget: input }) => {
            setLabel(input.value)
            setTaken(false)
            setProblem(undefined)
          }}
        />
        <ProblemNotice text={problem} />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {messages.cancel}
          </button>
          {isTaken ? (
            <button type="button" class="button button-bad" onClick={() => void rename(true)}>
              {words.replace}
            </button>
          ) : (
            <button type="submit" class="button button-main">
              {words.action}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function renameProblem(error: unknown, label: string): string {
  if (isProblem(error, 'file_exists')) return words.taken(label)
  return isProblem(error, 'invalid_file_name') ? words.invalid : changeProblem(error)
}

/** Selects the name of a file without its extension, which users rarely change. */
function selectStem(input: HTMLInputElement | null): void {
  select(input, (name) => name.lastIndexOf('.'))
}

function selectAll(input: HTMLInputElement | null): void {
  select(input, (name) => name.length)
}

function select(input: HTMLInputElement | null, endOf: (name: string) => number): void {
  if (input === null || input.dataset['selected'] !== undefined) return
  input.dataset['selected'] = ''
  input.autofocus = true
  const end = endOf(input.value)
  requestAnimationFrame(() => {
    input.focus()
    input.setSelectionRange(0, end > 0 ? end : input.value.length)
  })
}
