import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { Breadcrumbs } from '../../shared/breadcrumbs.tsx'

const words = messages.folders

/** The breadcrumbs of the open folder. Absent where there are no folders. */
export function FolderBar({ page }: { readonly page: Page }) {
  const { list, folders } = page
  const [first] = list.entries.value
  const { search, isFlat } = list.view.value
  const { value: DeviceBar } = page.DeviceBar
  if (list.device.value !== '') return DeviceBar === undefined ? null : <DeviceBar page={page} />
  const isOpen = list.path.value !== list.base.value
  if (!isOpen && search === '' && typeof first !== 'string' && !isFlat) return null
  const isSearched = list.search.value !== ''
  return (
    <div class="folder-bar">
      <Breadcrumbs
        label={isSearched ? words.searched : words.title}
        isLabelShown={isSearched}
        folder={list.path.value}
        base={list.base.value}
        onOpen={folders.open}
      />
      {search === '' && isFlat && <p class="quiet">{words.tooMany}</p>}
    </div>
  )
}
