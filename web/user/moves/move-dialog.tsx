import './moves.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../../shared/dialog.tsx'
import { failureOf } from '../../shared/error-message.ts'
import { Icon } from '../../shared/icon.tsx'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { TextField } from '../../shared/text-field.tsx'
import { messages } from '../../messages.ts'
import { type Entry, nameOf } from '../files/shown-entries.ts'
import { labelOf } from '../../shared/folder.ts'
import { makeFolder } from '../folders/make-folder.ts'
import type { Page } from '../user-page.ts'
import { FolderPicker } from './folder-picker.tsx'
import { planMoves } from './move.ts'
import { checkMoves, moveEntries } from './move-entries.ts'
import { words } from './words.ts'

export interface MoveDialogProps {
  readonly page: Page
  readonly entries: readonly Entry[]
  readonly onClose: () => void
}

/** Asks for the folder to which files and folders are moved, and moves them. */
export function MoveDialog({ page, entries, onClose }: MoveDialogProps) {
  const [folder, setFolder] = useState(page.list.path.value)
  const [isNaming, setNaming] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const moves = planMoves(entries, folder)
  const [first] = entries

  function open(next: string): void {
    setFolder(next)
    setProblem(undefined)
  }

  async function move(): Promise<void> {
    setBusy(true)
    try {
      await checkMoves(page, moves)
      onClose()
      // What it says is below the dialog.
      void moveEntries(page, moves)
    } catch (error) {
      setProblem(failureOf(error))
      setBusy(false)
    }
  }

  return (
    <Dialog
      title={words.title}
      subject={
        entries.length === 1 && first !== undefined
          ? labelOf(nameOf(first))
          : words.entries(entries.length)
      }
      onClose={onClose}
    >
      <FolderPicker page={page} folder={folder} moved={entries} onOpen={open} />
      {isNaming && (
        <NewFolder
          page={page}
          around={folder}
          onMade={(made) => {
            setNaming(false)
            open(made)
          }}
          onProblem={setProblem}
        />
      )}
      {moves.length === 0 && !isNaming && <p class="quiet">{words.there}</p>}
      <ProblemNotice text={problem} />
      <div class="dialog-actions">
        {page.permissions.may('create') && !isNaming && (
          <button type="button" class="button move-new" onClick={() => setNaming(true)}>
            <Icon name="newFolder" />
            {messages.folders.make}
          </button>
        )}
        <button type="button" class="button" onClick={onClose}>
          {messages.cancel}
        </button>
        <button
          type="button"
          class="button button-main"
          disabled={moves.length === 0}
          // A disabled button would lose the focus.
          aria-disabled={isBusy}
          onClick={() => {
            if (!isBusy) void move()
          }}
        >
          {words.action}
        </button>
      </div>
    </Dialog>
  )
}

interface NewFolderProps {
  readonly page: Page
  readonly around: string
  readonly onMade: (folder: string) => void
  readonly onProblem: (problem: string | undefined) => void
}

/** Asks for the name of a folder, and makes it. */
function NewFolder({ page, around, onMade, onProblem }: NewFolderProps) {
  const [name, setName] = useState('')
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('input')?.focus(), [])

  async function make(): Promise<void> {
    try {
      onMade(await makeFolder(page, around, name))
    } catch (error) {
      onProblem(failureOf(error))
    }
  }

  return (
    <form
      ref={form}
      class="form new-folder-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (name !== '') void make()
      }}
    >
      <TextField
        label={words.folderName}
        value={name}
        onInput={(text) => {
          setName(text)
          onProblem(undefined)
        }}
      />
      <button type="submit" class="button">
        {words.makeAction}
      </button>
    </form>
  )
}
