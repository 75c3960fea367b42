import './file-grid.css'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { messages } from '../../messages.ts'
import { createThumbnails } from '../thumbnails/thumbnails.ts'
import { FileTile } from './file-tile.tsx'
import { type FileViewProps, useFileWindow } from './file-window.ts'
import { FolderTile } from '../folders/folder-tile.tsx'
import { folderActions, permittedActions } from '../actions/row-actions.ts'

const SIZES = { height: 208, margin: 2, step: 1 } as const

/** As narrow as a tile becomes. */
const MIN_TILE_WIDTH = 150

/** The files as tiles, with thumbnails of photos. */
export function FileGrid(props: FileViewProps) {
  const { list, content, permissions, selection, thumbnailDatabase } = props.page
  const { folder } = list.view.value
  const [width, setWidth] = useState(0)
  const columns = Math.max(2, Math.floor(width / MIN_TILE_WIDTH))
  const [thumbnails] = useState(() => createThumbnails(content, thumbnailDatabase))
  useEffect(() => thumbnails.close, [])
  const actions = permittedActions(permissions)
  const ofFolders = folderActions(permissions)
  const { entries, active, setCurrent, region, setRegion, keyOf, window, visible, grid, act } =
    useFileWindow({ ...props, sizes: SIZES, columns, headHeight: 0 })
  const rows = Math.ceil(entries.length / columns)
  // Nothing is rendered, and loaded, in columns that are not known yet.
  const rendered = width === 0 ? 0 : window.end - window.first
  useLayoutEffect(() => {
    if (region === null) return undefined
    const measure = (): void => setWidth(region.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(region)
    measure()
    return () => observer.disconnect()
  }, [region])
  return (
    <div
      {...grid}
      aria-label={messages.files.title}
      aria-rowcount={list.hasMore.value ? -1 : rows}
      aria-colcount={columns}
      aria-busy={list.isLoading.value}
    >
      <div class="rows" ref={setRegion} role="presentation">
        <div
          class="rows-all"
          role="rowgroup"
          tabIndex={-1}
          style={{ height: `${rows * SIZES.height}px` }}
        >
          <div
            class="rows-seen"
            role="presentation"
            style={{ transform: `translateY(${window.first * SIZES.height}px)` }}
          >
            {Array.from({ length: rendered }, (_, at) => {
              const row = window.first + at
              return (
                <div
                  key={keyOf(row)}
                  class="tiles"
                  role="row"
                  aria-rowindex={row + 1}
                  style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
                >
                  {entries.slice(row * columns, (row + 1) * columns).map((entry, column) => {
                    const index = row * columns + column
                    const onFocus = (): void => setCurrent(index)
                    const isSelected = selection.has(entry)
                    const isCurrent = index === active
                    const place = { index, isCurrent, isSelected, onFocus, onAct: act }
                    return typeof entry === 'string' ? (
                      <FolderTile
                        key={column}
                        folder={entry}
                        within={folder}
                        total={list.totals.value.get(entry)}
                        {...place}
                        actions={ofFolders}
                      />
                    ) : (
                      <FileTile
                        key={column}
                        file={entry}
                        folder={folder}
                        {...place}
                        isInView={row >= visible.first && row < visible.end}
                        thumbnails={thumbnails}
                        actions={actions}
                      />
                    )
                  })}
                </div>
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
}
