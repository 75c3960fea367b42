import { Icon } from '../../shared/icon.tsx'
import type { Order } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { sort } from './file-list.ts'
import { FileRow } from './file-row.tsx'
import { type FileViewProps, useFileWindow } from './file-window.ts'
import { permittedActions } from './row-actions.ts'

const words = messages.files

const SIZES = { height: 52 } as const

/** Height of the sticky header. */
const HEAD_HEIGHT = 44

/** The files as a table. */
export function FileTable(props: FileViewProps) {
  const { list, content, permissions, selection } = props.page
  const actions = permittedActions(permissions)
  const { files, active, setCurrent, setRegion, keyOf, window, grid, act } = useFileWindow({
    ...props,
    sizes: SIZES,
    columns: 1,
    headHeight: HEAD_HEIGHT,
  })
  return (
    <div
      {...grid}
      aria-label={words.title}
      aria-rowcount={list.hasMore.value ? -1 : files.length + 1}
      aria-busy={list.isLoading.value}
    >
      <div class="rows" ref={setRegion} role="presentation">
        <Head order={list.order.value} onSort={(order) => sort(list, order)} />
        <div
          class="rows-all"
          role="rowgroup"
          tabIndex={-1}
          style={{ height: `${files.length * SIZES.height}px` }}
        >
          <div
            class="rows-seen"
            role="presentation"
            style={{ transform: `translateY(${window.first * SIZES.height}px)` }}
          >
            {files.slice(window.first, window.end).map((file, at) => {
              const index = window.first + at
              return (
                <FileRow
                  key={keyOf(index)}
                  file={file}
                  url={content.downloadUrlOf(file)}
                  index={index}
                  isCurrent={index === active}
                  isSelected={selection.has(file.name)}
                  actions={actions}
                  onFocus={() => setCurrent(index)}
                  onAct={act}
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
