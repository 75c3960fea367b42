import { useState } from 'preact/hooks'
import { isProblem } from '../../../packages/js/src/errors.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { messages } from '../../messages.ts'
import { changeProblem, type FileActionProps, showChanged } from './file-action.ts'
import { folderOf, SEPARATOR, typedName } from '../folders/folder.ts'

const words = messages.rename

/** Asks for the new name of a file, and before it replaces another one. */
export function RenameDialog({ page, action, onClose }: FileActionProps) {
  const { file } = action
  const { permissions } = page
  const hasFolders = page.list.hasFolders.value
  const [name, setName] = useState(file.name)
  const [problem, setProblem] = useState<string>()
  const [isTaken, setTaken] = useState(false)

  async function rename(overwrite: boolean): Promise<void> {
    if (name === file.name) {
      onClose()
      return
    }
    if (name !== permissions.within(name)) {
      setProblem(words.outside(permissions.prefix()))
      return
    }
    try {
      const options = { ifMatch: file.etag, overwrite }
      showChanged(page, file, await page.client.files.rename(file.name, name, options))
      onClose()
    } catch (error) {
      setTaken(isProblem(error, 'file_exists') && permissions.may('replace'))
      setProblem(renameProblem(error, name))
    }
  }

  return (
    <Dialog title={words.title} subject={file.name} onClose={onClose}>
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
          value={name}
          ref={selectStem}
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby={hasFolders ? 'new-name-hint' : undefined}
          onInput={({ currentTarget: input }) => {
            if (hasFolders) separate(input)
            setName(input.value)
            setTaken(false)
            setProblem(undefined)
          }}
        />
        {hasFolders && (
          <p id="new-name-hint" class="quiet">
            {words.folderHint(SEPARATOR)}
          </p>
        )}
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

function renameProblem(error: unknown, name: string): string {
  if (isProblem(error, 'file_exists')) return words.taken(name)
  return isProblem(error, 'invalid_file_name') ? words.invalid : changeProblem(error)
}

/** Puts the separator of folders where a slash was typed, which no name can contain. */
function separate(input: HTMLInputElement): void {
  const { value, selectionStart: caret } = input
  if (!value.includes('/')) return
  input.value = typedName(value)
  input.setSelectionRange(caret, caret)
}

/** Selects the name without its folders and its extension, which users rarely change. */
function selectStem(input: HTMLInputElement | null): void {
  if (input === null || input.dataset['selected'] !== undefined) return
  input.dataset['selected'] = ''
  input.autofocus = true
  const start = folderOf(input.value).length
  const end = input.value.lastIndexOf('.')
  requestAnimationFrame(() => {
    input.focus()
    input.setSelectionRange(start, end > start ? end : input.value.length)
  })
}
