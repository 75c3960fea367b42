import { Icon } from '../../shared/icon.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { labelOf, SEPARATOR, wayTo } from './folder.ts'

const words = messages.folders

/** The way to the open folder, and the choice to see whole names. Absent where there are no folders. */
export function FolderBar({ page }: { readonly page: Page }) {
  const { list, folders } = page
  const hasFolders = list.hasFolders.value
  const [first] = list.entries.value
  const { search, isFlat } = list.view.value
  const label = hasFolders ? words.hide : words.show
  const isOpen = list.path.value !== list.base.value
  if (hasFolders && !isOpen && search === '' && typeof first !== 'string' && !isFlat) return null
  return (
    <div class="folder-bar">
      {hasFolders ? <Way page={page} /> : <span class="quiet">{words.whole}</span>}
      <button
        type="button"
        class="button button-plain"
        aria-label={label}
        title={label}
        onClick={() => folders.show(!hasFolders)}
      >
        <Icon name={hasFolders ? 'text' : 'folder'} />
        <span>{label}</span>
      </button>
      {hasFolders && search === '' && isFlat && <p class="quiet">{words.tooMany}</p>}
    </div>
  )
}

function Way({ page }: { readonly page: Page }) {
  const { list, folders } = page
  const path = list.path.value
  const way = ['', ...wayTo(path, list.base.value)]
  return (
    <nav class="way" aria-label={list.search.value === '' ? words.title : words.searched}>
      {list.search.value !== '' && <span class="quiet">{words.searched}</span>}
      <ol>
        {way.map((folder, at) => (
          <li key={folder}>
            {at > 0 && (
              <span class="quiet" aria-hidden="true">
                {SEPARATOR}
              </span>
            )}
            <button
              type="button"
              class="crumb"
              aria-current={at === way.length - 1 ? 'page' : undefined}
              onClick={() => folders.open(folder)}
            >
              {at === 0 ? words.all : <ShownName name={labelOf(folder)} />}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}
