import { type Files, isProblem } from '../../../packages/js/src/client.ts'
import type { FileEntry } from '../../shared/model.ts'
import { SEPARATOR } from '../../shared/folder.ts'
import { opposite } from '../../shared/file-order.ts'
import type { EntryPage } from './shown-entries.ts'
import { shownIn, type View } from './view.ts'

const PAGE_ENTRIES = 500

export interface EntryRead {
  readonly view: View
  /** The cursor of the page; `null` for the first one. */
  readonly after: string | null
  /** `false` once a later read, with another order or search, replaces this one. */
  readonly isWanted: () => boolean
}

export interface FoundEntries {
  readonly page: EntryPage
  /** The cursor of the changes since the read began. */
  readonly changes: string | undefined
}

/**
 * The next page of a view that has entries: a page of a search can be empty, although later pages are not. A search for
 * what no name can contain finds nothing.
 */
export async function findEntries(
  service: Pick<Files, 'list'>,
  { view, after, isWanted }: EntryRead,
): Promise<FoundEntries> {
  let page: EntryPage & ReturnType<typeof shownOf> = { files: [], prefixes: [], next_cursor: null }
  let changes: string | undefined
  try {
    for await (const { files, prefixes, folders, ...more } of pagesOf(service, view, after)) {
      changes ??= more.changes_cursor
      page = { ...shownOf(view, files, prefixes), folders, next_cursor: more.next_cursor }
      const isEmpty = page.files.length === 0 && page.prefixes.length === 0
      if (!isEmpty || !isWanted()) break
    }
  } catch (error) {
    if (!isProblem(error, 'invalid_parameter') || view.search === '') throw error
  }
  return { page, changes }
}

/** What the view shows of a page, of which markers can be folders. */
function shownOf(view: View, files: readonly FileEntry[], prefixes: readonly string[] = []) {
  const found: FileEntry[] = []
  const folders = new Set(prefixes)
  for (const file of files) {
    const shown = shownIn(view, file.name)
    if (shown === 'file') found.push(file)
    else if (shown !== 'nothing') folders.add(shown.folder)
  }
  return { files: found, prefixes: [...folders] }
}

function pagesOf(service: Pick<Files, 'list'>, view: View, after: string | null) {
  const { prefix, search, device, isFlat, listed, isFromEnd } = view
  return service
    .list({
      order: isFromEnd ? opposite(listed) : listed,
      limit: PAGE_ENTRIES,
      prefix: prefix || undefined,
      contains: search || undefined,
      deviceId: device || undefined,
      delimiter: isFlat ? undefined : SEPARATOR,
      folderTotals: !isFlat,
      cursor: after ?? undefined,
    })
    .pages()
}
