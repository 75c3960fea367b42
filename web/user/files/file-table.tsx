import { useEffect, useState } from 'preact/hooks'
import { filePath } from '../../shared/connection.ts'
import { formatBytes } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import type { FileEntry, Order } from '../../shared/model.ts'
import { useRowWindow } from '../../shared/virtual-rows.ts'
import { messages } from '../../messages.ts'
import type { FileAction } from './file-actions.tsx'
import { FileRow } from './file-row.tsx'
import { permittedActions } from './row-actions.ts'
import type { Page } from '../user-page.ts'

const words = messages.files

const ROW_HEIGHT = 52

/** Height of the sticky header. */
const HEAD_HEIGHT = 40

/** The next page is read when fewer rows are left below the rendered ones. */
const AHEAD_ROWS = 200

export interface FileTableProps {
  readonly page: Page
  readonly onSort: (order: Order) => void
  readonly onAct: (kind: FileAction['kind'], file: FileEntry) => void
}

/** All files; only the visible rows are rendered. Arrow keys move between rows. */
export function FileTable({ page, onSort, onAct }: FileTableProps) {
  const { list, connection } = page
  const files = list.files.value
  const actions = permittedActions(page.permissions)
  const { region, setRegion, keyOf, window, visible } = useRowWindow<HTMLDivElement>(
    files.length,
    ROW_HEIGHT,
  )
  const [current, setCurrent] = useState(0)
  // The Tab key focuses a visible row: a long way back to the current one could reuse its elements for another file.
  const active = Math.max(visible.first, Math.min(current, visible.end - 1))
  const isNearEnd = window.end + AHEAD_ROWS >= files.length
  useEffect(() => {
    // A refused token is handled by the session.
    if (isNearEnd && list.hasMore.value) list.loadMore().catch(() => undefined)
    // Depends on the list itself: a list in another order can have the same length.
  }, [isNearEnd, files])

  function move(event: KeyboardEvent): void {
    const to = targetOf(event.key, { current: active, count: files.length, region })
    if (to === undefined || !(event.target instanceof HTMLElement)) return
    if (event.target.closest('[role=row]') === null) return
    event.preventDefault()
    setCurrent(to)
    reveal(region, to)
    requestAnimationFrame(() => focusRow(region, to))
  }

  function act(kind: FileAction['kind'], file: FileEntry): void {
    onAct(kind, file)
    // Removing the focused row would reset the focus to the top of the page.
    if (kind !== 'remove') return
    requestAnimationFrame(() => focusRow(region, Math.min(active, list.files.value.length - 1)))
  }

  if (files.length === 0) return <Empty page={page} />
  return (
    <div
      class="table"
      role="grid"
      aria-label={words.title}
      aria-rowcount={list.hasMore.value ? -1 : files.length + 1}
      aria-busy={list.isLoading.value}
      onKeyDown={move}
    >
      <div class="rows" ref={setRegion} role="presentation">
        <Head order={list.order.value} onSort={onSort} />
        <div
          class="rows-all"
          role="rowgroup"
          tabIndex={-1}
          style={{ height: `${files.length * ROW_HEIGHT}px` }}
        >
          <div
            class="rows-seen"
            role="presentation"
            style={{ transform: `translateY(${window.first * ROW_HEIGHT}px)` }}
          >
            {files.slice(window.first, window.end).map((file, at) => {
              const index = window.first + at
              return (
                <FileRow
                  key={keyOf(index)}
                  file={file}
                  url={connection.urlOf(filePath(file.name))}
                  index={index}
                  isCurrent={index === active}
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

interface Place {
  readonly current: number
  readonly count: number
  readonly region: HTMLElement | null
}

/** The row that a key moves to. */
function targetOf(key: string, { current, count, region }: Place): number | undefined {
  const page = Math.max(1, Math.floor((region?.clientHeight ?? 0) / ROW_HEIGHT) - 1)
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: current + 1,
    ArrowUp: current - 1,
    PageDown: current + page,
    PageUp: current - page,
    Home: 0,
    End: count - 1,
  }
  const to = steps[key]
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to))
}

function reveal(region: HTMLElement | null, row: number): void {
  if (region === null) return
  const top = row * ROW_HEIGHT
  const bottom = top + HEAD_HEIGHT + ROW_HEIGHT - region.clientHeight
  if (region.scrollTop > top) region.scrollTop = top
  else if (region.scrollTop < bottom) region.scrollTop = bottom
}

function focusRow(region: HTMLElement | null, row: number): void {
  region?.querySelector<HTMLElement>(`[aria-rowindex="${row + 2}"]`)?.focus()
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

/** Touch devices have no drag and drop of files. */
function canDrop(): boolean {
  return !matchMedia('(pointer: coarse)').matches
}

function Empty({ page }: { readonly page: Page }) {
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
        <p class="quiet">{canDrop() ? words.emptyHint : words.emptyHintForTouch}</p>
      )}
      {prefix === '' && free !== undefined && (
        <p class="quiet">
          {messages.capacity.free}: {formatBytes(free)}
        </p>
      )}
    </div>
  )
}
