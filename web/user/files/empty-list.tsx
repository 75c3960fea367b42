import { useRef } from 'preact/hooks'
import { failureOf } from '../../shared/error-message.ts'
import { formatBytes } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { currentEntry, useKeptFocus } from '../../shared/kept-focus.ts'
import { messages } from '../../messages.ts'
import { visibleText } from '../../shared/visible-text.ts'
import type { Page } from '../user-page.ts'
import { labelOf } from '../../shared/folder.ts'

const words = messages.files

export interface EmptyListProps {
  readonly page: Page
  /** Lets the user choose files to upload. */
  readonly onChoose: () => void
}

/** Instead of files, if there are none, or if they could not be read. */
export function EmptyList({ page, onChoose }: EmptyListProps) {
  const { list, capacity, permissions } = page
  const region = useRef<HTMLDivElement>(null)
  // The button for the first files goes with them.
  useKeptFocus(region, currentEntry)
  const { search } = list.view.value
  const path = list.path.value === list.base.value ? '' : list.path.value
  if (list.isLoading.value) {
    return (
      <p class="empty quiet" role="status">
        {words.loading}
      </p>
    )
  }
  if (list.failure.value !== undefined) {
    return (
      <div class="empty" role="alert">
        <Icon name="warning" />
        <p>
          <strong>{failureOf(list.failure.value)}</strong>
        </p>
        <button type="button" class="button" onClick={() => void list.reload()}>
          {messages.retry}
        </button>
      </div>
    )
  }
  const free = capacity.figures.value?.available
  const isSearch = search !== ''
  return (
    <div ref={region} class="empty">
      <Icon name={isSearch ? 'search' : path === '' ? 'upload' : 'folder'} />
      <p>
        <strong>
          {isSearch ? noMatch(search, path) : path === '' ? words.empty : emptyIn(path)}
        </strong>
      </p>
      {!isSearch && permissions.mayUpload() && (
        <>
          <p class="quiet">{canDrop() ? words.emptyHint : words.emptyHintForTouch}</p>
          <button type="button" class="button button-main" onClick={onChoose}>
            {words.choose}
          </button>
        </>
      )}
      {!isSearch && free !== undefined && (
        <p class="quiet">
          {messages.capacity.free}: {formatBytes(free)}
        </p>
      )}
    </div>
  )
}

function noMatch(search: string, path: string): string {
  if (path === '') return words.noMatch(search)
  return messages.folders.noMatch(search, visibleText(labelOf(path)))
}

function emptyIn(path: string): string {
  return messages.folders.empty(visibleText(labelOf(path)))
}

/** Touch devices have no drag and drop of files. */
function canDrop(): boolean {
  return !matchMedia('(pointer: coarse)').matches
}
