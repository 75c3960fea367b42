import { useLayoutEffect, useRef } from 'preact/hooks'
import { firstClick } from '../../shared/first-click.ts'
import { formatBytes } from '../../shared/format.ts'
import { KindIcon } from '../../shared/kind-icon.tsx'
import { VisibilityBadge } from '../../shared/visibility-badge.tsx'
import { messages } from '../../messages.ts'
import { ActionsCell } from './actions-cell.tsx'
import { type FileItemProps, itemProps, pickProps, releaseFocus } from './file-item.ts'
import { nameIn } from '../../shared/folder.ts'
import { kindOf } from '../../shared/file-kind.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'

const words = messages.files

export interface FileRowProps extends FileItemProps {
  readonly url: string
}

/** One file. Its name is always rendered as text. */
export function FileRow(props: FileRowProps) {
  const { file, folder, url, index, isCurrent, actions, onAct } = props
  const { name, size, updated_at: changed, visibility, media_type: type } = file
  const tabIndex = isCurrent ? 0 : -1
  const row = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => releaseFocus(row.current), [index])

  return (
    <div ref={row} class="row" role="row" aria-rowindex={index + 2} {...itemProps(props, file)}>
      <div class="cell cell-name" role="gridcell">
        <input {...pickProps(props, name)} />
        <KindIcon kind={kindOf(name, type)} />
        <button
          type="button"
          class="name"
          tabIndex={tabIndex}
          title={visibleText(name)}
          onClick={firstClick(() => onAct('open', file))}
        >
          <ShownName name={nameIn(folder, name)} />
        </button>
        <VisibilityBadge visibility={visibility} />
      </div>
      <div class="cell cell-size" role="gridcell">
        {formatBytes(size)}
      </div>
      <div class="cell cell-updated_at" role="gridcell">
        <time dateTime={changed} title={words.wholeTime(changed)}>
          {words.time(changed)}
        </time>
      </div>
      <ActionsCell
        entry={file}
        label={name}
        url={url}
        tabIndex={tabIndex}
        actions={actions}
        onAct={onAct}
      />
    </div>
  )
}
