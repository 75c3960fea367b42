import { formatBytes } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'

const words = messages.files

export interface EmptyListProps {
  readonly page: Page
  /** Lets the user choose files to upload. */
  readonly onChoose: () => void
}

/** Instead of files, if there are none. */
export function EmptyList({ page, onChoose }: EmptyListProps) {
  const { list, capacity, permissions } = page
  const prefix = list.prefix.value
  if (list.isLoading.value) {
    return (
      <p class="empty quiet" role="status">
        {words.loading}
      </p>
    )
  }
  const free = capacity.figures.value?.available
  return (
    <div class="empty">
      <Icon name={prefix === '' ? 'upload' : 'search'} />
      <p>
        <strong>{prefix === '' ? words.empty : words.noMatch(prefix)}</strong>
      </p>
      {prefix === '' && permissions.mayUpload() && (
        <>
          <p class="quiet">{canDrop() ? words.emptyHint : words.emptyHintForTouch}</p>
          <button type="button" class="button button-main" onClick={onChoose}>
            {words.choose}
          </button>
        </>
      )}
      {prefix === '' && free !== undefined && (
        <p class="quiet">
          {messages.capacity.free}: {formatBytes(free)}
        </p>
      )}
    </div>
  )
}

/** Touch devices have no drag and drop of files. */
function canDrop(): boolean {
  return !matchMedia('(pointer: coarse)').matches
}
