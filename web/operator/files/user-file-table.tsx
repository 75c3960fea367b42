import { useEffect } from 'preact/hooks'
import { kindOf } from '../../shared/file-kind.ts'
import { isMarker, nameIn, parentOf } from '../../shared/folder.ts'
import { formatBytes, formatTime, formatWholeTime } from '../../shared/format.ts'
import { IconButton } from '../../shared/icon-button.tsx'
import { KindIcon } from '../../shared/kind-icon.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { useRowWindow } from '../../shared/virtual-rows.ts'
import { VisibilityBadge } from '../../shared/visibility-badge.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import type { UserFile, UserFiles } from './user-files.ts'

const words = messages.files

const SIZES = { height: 52 } as const

/** The next page is read when fewer files are left below the rendered ones. */
const AHEAD_FILES = 200

export interface UserFileTableProps {
  readonly list: UserFiles
  readonly onMore: () => void
  /** Omitted where files cannot be deleted. */
  readonly onDelete?: ((file: UserFile) => void) | undefined
}

/** Renders the visible files only. */
export function UserFileTable({ list, onMore, onDelete }: UserFileTableProps) {
  const files = list.items.value
  const hasMore = list.hasMore.value
  const { setRegion, keyOf, window } = useRowWindow<HTMLDivElement>(files.length, SIZES)
  const isNearEnd = window.end + AHEAD_FILES >= files.length
  useEffect(() => {
    if (isNearEnd && hasMore && !list.isReading.value) onMore()
  }, [isNearEnd, files])
  return (
    <div class="table">
      {/* With the focus here, the keys of the browser scroll. */}
      <div
        class="rows"
        ref={setRegion}
        role="table"
        tabIndex={0}
        aria-label={words.title}
        aria-rowcount={hasMore ? -1 : files.length + 1}
        aria-busy={list.isReading.value}
      >
        <Head />
        <div
          class="rows-all"
          role="rowgroup"
          style={{ height: `${files.length * SIZES.height}px` }}
        >
          <div
            class="rows-seen"
            role="presentation"
            style={{ transform: `translateY(${window.first * SIZES.height}px)` }}
          >
            {files.slice(window.first, window.end).map((file, at) => (
              <FileRow
                key={keyOf(window.first + at)}
                file={file}
                index={window.first + at}
                onDelete={onDelete && (() => onDelete(file))}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  )
}

function Head() {
  return (
    <div role="rowgroup">
      <div class="row row-head quiet" role="row" aria-rowindex={1}>
        {(['name', 'size', 'updated_at'] as const).map((column) => (
          <div key={column} class={`cell cell-${column}`} role="columnheader">
            {column === 'updated_at' ? words.changed : words[column]}
          </div>
        ))}
        <div class="cell cell-actions" role="columnheader">
          <span class="unseen">{words.actions.remove}</span>
        </div>
      </div>
    </div>
  )
}

interface FileRowProps {
  readonly file: UserFile
  readonly index: number
  readonly onDelete: (() => void) | undefined
}

function FileRow({ file, index, onDelete }: FileRowProps) {
  const { name, size, updated_at: changed, visibility, media_type: type } = file
  const folder = parentOf(name)
  return (
    <div class="row" role="row" aria-rowindex={index + 2}>
      <div class="cell cell-name" role="cell">
        <KindIcon kind={isMarker(name) ? 'folder' : kindOf(name, type)} />
        <span class={folder === '' ? 'name' : 'name name-below'} title={visibleText(name)}>
          <ShownName name={nameIn(folder, name)} />
          {folder !== '' && (
            <span class="quiet">
              <ShownName name={folder} />
            </span>
          )}
        </span>
        <VisibilityBadge visibility={visibility} />
      </div>
      <div class="cell cell-size" role="cell">
        {formatBytes(size)}
      </div>
      <div class="cell cell-updated_at" role="cell">
        <time dateTime={changed} title={formatWholeTime(changed)}>
          {formatTime(changed)}
        </time>
      </div>
      <div class="cell cell-actions" role="cell">
        {onDelete !== undefined && (
          <IconButton
            icon="remove"
            label={words.remove(name)}
            title={words.actions.remove}
            onClick={onDelete}
          />
        )}
      </div>
    </div>
  )
}
