import { archivePath } from '../../shared/connection.ts'
import { Icon } from '../../shared/icon.tsx'
import type { Order } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { FileRow } from './file-row.tsx'
import { type FileViewProps, useFileWindow } from './file-window.ts'
import { FolderRow } from '../folders/folder-row.tsx'
import { folderActions, permittedActions } from '../actions/row-actions.ts'

const words = messages.files

const SIZES = { height: 52 } as const

/** Height of the sticky header. */
const HEAD_HEIGHT = 44

/** On phones, there is none. */
function hasHead(): boolean {
  return !matchMedia('(max-width: 45rem)').matches
}

/** The files as a table. */
export function FileTable(props: FileViewProps) {
  const { list, content, connection, permissions, selection } = props.page
  const { folder } = list.view.value
  const actions = permittedActions(permissions)
  const ofFolders = folderActions(permissions)
  const { entries, active, setCurrent, setRegion, keyOf, window, grid, act } = useFileWindow({
    ...props,
    sizes: SIZES,
    columns: 1,
    headHeight: hasHead() ? HEAD_HEIGHT : 0,
  })
  return (
    <div
      {...grid}
      aria-label={words.title}
      aria-rowcount={list.hasMore.value ? -1 : entries.length + 1}
      aria-busy={list.isLoading.value}
    >
      <div class="rows" ref={setRegion} role="presentation">
        <Head order={list.order.value} onSort={(order) => void list.sort(order)} />
        <div
          class="rows-all"
          role="rowgroup"
          tabIndex={-1}
          style={{ height: `${entries.length * SIZES.height}px` }}
        >
          <div
            class="rows-seen"
            role="presentation"
            style={{ transform: `translateY(${window.first * SIZES.height}px)` }}
          >
            {entries.slice(window.first, window.end).map((entry, at) => {
              const index = window.first + at
              const place = {
                index,
                isCurrent: index === active,
                isSelected: selection.has(entry),
                onFocus: () => setCurrent(index),
                onAct: act,
              }
              return typeof entry === 'string' ? (
                <FolderRow
                  key={keyOf(index)}
                  folder={entry}
                  within={folder}
                  total={list.totals.value.get(entry)}
                  url={connection.urlOf(archivePath(entry))}
                  {...place}
                  actions={ofFolders}
                />
              ) : (
                <FileRow
                  key={keyOf(index)}
                  file={entry}
                  folder={folder}
                  url={content.downloadUrlOf(entry)}
                  {...place}
                  actions={actions}
                />
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
}

const COLUMNS = [
  ['name', words.name],
  ['size', words.size],
  ['updated_at', words.changed],
] as const

function Head({
  order,
  onSort,
}: {
  readonly order: Order
  readonly onSort: (order: Order) => void
}) {
  return (
    <div role="rowgroup">
      <div class="row row-head" role="row" aria-rowindex={1}>
        {COLUMNS.map(([column, label]) => {
          const isUp = order === column
          const isSorted = isUp || order === `-${column}`
          const sorted = isUp ? 'ascending' : 'descending'
          return (
            <div
              key={column}
              class={`cell cell-${column}`}
              role="columnheader"
              aria-sort={isSorted ? sorted : 'none'}
            >
              <button
                type="button"
                class="head-button"
                onClick={() => onSort(isUp ? (`-${column}` as const) : column)}
              >
                {label}
                {isSorted && <Icon name={isUp ? 'up' : 'down'} />}
              </button>
            </div>
          )
        })}
        <div class="cell cell-actions" role="columnheader">
          <span class="unseen">{words.actions.download}</span>
        </div>
      </div>
    </div>
  )
}
