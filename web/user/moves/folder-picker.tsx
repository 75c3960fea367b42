import { useEffect, useRef, useState } from 'preact/hooks'
import { failureOf } from '../../shared/error-message.ts'
import { Icon } from '../../shared/icon.tsx'
import { useKeptFocus } from '../../shared/kept-focus.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import { asPeople } from '../../shared/file-order.ts'
import type { Entry } from '../files/shown-entries.ts'
import { labelOf } from '../../shared/folder.ts'
import { Breadcrumbs } from '../../shared/breadcrumbs.tsx'
import type { Page } from '../user-page.ts'
import { isWithin } from './move.ts'
import { pagesIn } from './taken-names.ts'
import { words } from './words.ts'

/** More are not rendered. */
const MAX_SHOWN = 2_000

export interface FolderPickerProps {
  readonly page: Page
  readonly folder: string
  /** Folders that cannot be picked. */
  readonly moved: readonly Entry[]
  readonly onOpen: (folder: string) => void
}

/** Lets the user go to a folder: the way to it, and the folders in it. Arrow keys move among those. */
export function FolderPicker({ page, folder, moved, onOpen }: FolderPickerProps) {
  const { found, isReading, problem } = useFoldersIn(page, folder)
  const folders = found.filter((each) => !isWithin(each, moved)).toSorted(asPeople)
  const region = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLUListElement>(null)
  // Of the folder that was opened, the button is gone.
  useKeptFocus(region, () => list.current)
  return (
    <div ref={region} class="picker">
      <Breadcrumbs
        label={messages.folders.title}
        folder={folder}
        base={page.list.base.value}
        onOpen={onOpen}
      />
      <ul
        ref={list}
        class="picker-list"
        tabIndex={-1}
        // The arrow keys work as soon as the dialog is there.
        autofocus
        aria-label={words.foldersIn(folder === '' ? messages.folders.all : labelOf(folder))}
        aria-busy={isReading}
        onKeyDown={move}
      >
        {folders.slice(0, MAX_SHOWN).map((each) => (
          <li key={each}>
            <button
              type="button"
              class="picker-folder"
              title={visibleText(labelOf(each))}
              onClick={() => onOpen(each)}
            >
              <Icon name="folder" />
              <ShownName name={labelOf(each)} />
              <Icon name="right" />
            </button>
          </li>
        ))}
        {folders.length === 0 && (
          <li class="quiet">{isReading ? messages.files.loading : words.noFolders}</li>
        )}
        {folders.length > MAX_SHOWN && <li class="quiet">{words.tooMany(MAX_SHOWN)}</li>}
      </ul>
      <ProblemNotice text={problem} />
    </div>
  )
}

/** The arrow keys, from the list itself too. */
function move(event: KeyboardEvent): void {
  const { key, currentTarget } = event
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
  if (step === 0 || !(currentTarget instanceof HTMLElement)) return
  event.preventDefault()
  const buttons = [...currentTarget.querySelectorAll('button')]
  const at = buttons.findIndex((button) => button === document.activeElement)
  buttons[Math.max(0, Math.min(buttons.length - 1, at + step))]?.focus()
}

interface Found {
  readonly found: readonly string[]
  readonly isReading: boolean
  readonly problem?: string
}

const NONE: Found = { found: [], isReading: true }

/** The folders in a folder, as they are read. */
function useFoldersIn(page: Page, folder: string): Found {
  const [state, setState] = useState({ folder, ...NONE })
  useEffect(() => {
    let isOpen = true
    async function read(): Promise<void> {
      const found: string[] = []
      let problem: string | undefined
      try {
        const options = { service: page.reader.files, narrow: page.permissions.narrow }
        for await (const { prefixes = [] } of pagesIn(options, folder)) {
          if (!isOpen) return
          found.push(...prefixes)
          if (prefixes.length > 0) setState({ folder, found: found.slice(), isReading: true })
        }
      } catch (error) {
        problem = failureOf(error)
      }
      if (isOpen)
        setState({ folder, found, isReading: false, ...(problem !== undefined && { problem }) })
    }
    void read()
    return () => {
      isOpen = false
    }
  }, [folder])
  return state.folder === folder ? state : NONE
}
