import { useState } from 'preact/hooks'
import type { FileUpdate } from '../../../client/src/client.ts'
import { isProblem } from '../../../client/src/errors.ts'
import { filePath } from '../../shared/connection.ts'
import { CopyField } from '../../shared/copy-field.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Icon } from '../../shared/icon.tsx'
import { messageOf } from '../../shared/error-message.ts'
import type { FileEntry, Visibility } from '../../shared/model.ts'
import { VISIBILITIES } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { CreatedLink, CreateLink } from '../links/create-link.tsx'
import type { Page } from '../user-page.ts'
import { folderOf, SEPARATOR, typedName } from './folder.ts'
import { permittedActions, type RowAction } from './row-actions.ts'
import { type StayChange, StayDialog } from './stay-dialog.tsx'

export type ActionKind = RowAction | 'open' | 'more'

export interface FileAction {
  readonly kind: ActionKind
  readonly file: FileEntry
}

export interface FileActionProps {
  readonly page: Page
  readonly action: FileAction
  readonly onAct: (kind: ActionKind, file: FileEntry) => void
  readonly onClose: () => void
}

export function FileActionDialog(props: FileActionProps) {
  const { page, action, onClose } = props
  const { kind, file } = action
  if (kind === 'share') return <ShareDialog {...props} />
  if (kind === 'stay') {
    const save = (stay: StayChange) => change(page, file, stay)
    return <StayDialog file={file} change={save} onClose={onClose} />
  }
  return kind === 'rename' ? <RenameDialog {...props} /> : <MoreDialog {...props} />
}

/** Updates a file, and no other that has its name by now, perhaps of a user who has signed in meanwhile. */
async function change(page: Page, file: FileEntry, update: FileUpdate): Promise<void> {
  show(page, file, await page.client.files.update(file.name, update, { ifMatch: file.etag }))
}

function show({ list, capacity }: Page, file: FileEntry, changed: FileEntry): void {
  if (changed.name !== file.name) list.drop(file.name)
  list.put(changed)
  capacity.refresh()
}

function MoreDialog({ page, action, onAct, onClose }: FileActionProps) {
  const { file } = action
  const words = messages.files.actions
  return (
    <Dialog title={messages.files.more(file.name)} onClose={onClose}>
      <div class="choices">
        <a
          class="button"
          href={page.connection.urlOf(filePath(file.name))}
          download={file.name}
          onClick={onClose}
        >
          <Icon name="download" />
          {words.download}
        </a>
        {permittedActions(page.permissions).map((kind) => (
          <button
            key={kind}
            type="button"
            class="button"
            onClick={() => {
              onClose()
              onAct(kind, file)
            }}
          >
            <Icon name={kind} />
            {words[kind]}
          </button>
        ))}
      </div>
    </Dialog>
  )
}

function RenameDialog({ page, action, onClose }: FileActionProps) {
  const { file } = action
  const { permissions } = page
  const hasFolders = page.list.hasFolders.value
  const words = messages.rename
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
      show(page, file, await page.client.files.rename(file.name, name, options))
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
        {problem !== undefined && (
          <p class="notice notice-bad" role="alert">
            {problem}
          </p>
        )}
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
  const words = messages.rename
  if (isProblem(error, 'file_exists')) return words.taken(name)
  return isProblem(error, 'invalid_file_name') ? words.invalid : changeProblem(error)
}

function changeProblem(error: unknown): string {
  const isGone = isProblem(error, 'not_found', 'precondition_failed')
  return isGone ? messages.rename.gone : messages.failed(messageOf(error))
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

function ShareDialog({ page, action, onClose }: FileActionProps) {
  const words = messages.share
  const { file } = action
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
      await change(page, file, { visibility })
    } catch (error) {
      setChosen(chosen)
      setSaid(changeProblem(error))
    }
    setBusy(false)
  }

  return (
    <Dialog title={words.title} subject={file.name} onClose={onClose}>
      <fieldset class="radios" aria-busy={isBusy}>
        <legend>{words.who}</legend>
        {VISIBILITIES.map((visibility) => (
          <label key={visibility} class="radio">
            <input
              type="radio"
              name="visibility"
              checked={chosen === visibility}
              onChange={() => void choose(visibility)}
            />
            <span>
              <strong>{messages.visibility.names[visibility]}</strong>
              <span class="quiet">{messages.visibility.explanations[visibility]}</span>
            </span>
          </label>
        ))}
      </fieldset>
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
