import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatBytes } from '../../shared/format.ts'
import { KindIcon } from '../../shared/kind-icon.tsx'
import { messages } from '../../messages.ts'
import { ActionsCell } from '../files/actions-cell.tsx'
import { type ItemProps, itemProps, pickProps, releaseFocus } from '../files/file-item.ts'
import type { FolderTotal } from '../files/shown-entries.ts'
import { FolderCount, FolderName } from './folder-name.tsx'
import { nameIn, plainName } from '../../shared/folder.ts'

const words = messages.files

export interface FolderItemProps extends ItemProps {
  readonly folder: string
  /** The open folder, whose name is not repeated. */
  readonly within: string
  /** What is in it, if that is known. */
  readonly total: FolderTotal | undefined
}

/** A folder in the list. */
export function FolderRow(props: FolderItemProps & { readonly url: string }) {
  const { folder, within, total, url, index, isCurrent, actions, onAct } = props
  const label = plainName(nameIn(within, folder))
  const tabIndex = isCurrent ? 0 : -1
  const row = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => releaseFocus(row.current), [index])
  return (
    <div ref={row} class="row" role="row" aria-rowindex={index + 2} {...itemProps(props, folder)}>
      <div class="cell cell-name" role="gridcell">
        <input {...pickProps(props, words.folder(label))} />
        <KindIcon kind="folder" />
        <FolderName label={label} tabIndex={tabIndex} onOpen={() => onAct('open', folder)} />
        <FolderCount total={total} />
      </div>
      <div class="cell cell-size" role="gridcell">
        {typeof total?.size === 'number' && formatBytes(total.size)}
      </div>
      <div class="cell cell-updated_at" role="gridcell" />
      <ActionsCell
        entry={folder}
        label={label}
        url={url}
        tabIndex={tabIndex}
        actions={actions}
        onAct={onAct}
      />
    </div>
  )
}
