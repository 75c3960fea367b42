import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../shared/icon.tsx'
import { KindIcon } from '../../shared/kind-icon.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import { folderProps, type ItemProps, pickProps, releaseFocus } from '../files/file-item.ts'
import { labelOf } from './folder.ts'

export interface FolderItemProps extends ItemProps {
  readonly folder: string
  /** A tile of the grid instead of a row of the list. */
  readonly isTile?: boolean
  readonly onOpen: (folder: string) => void
}

/** A folder in the list or the grid. */
export function FolderRow(props: FolderItemProps) {
  const { folder, index, isCurrent, isTile = false, onOpen } = props
  const label = labelOf(folder)
  const open = (): void => onOpen(folder)
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => releaseFocus(element.current), [index])
  const pick = <input {...pickProps(props, messages.files.folder(label))} />
  const name = (
    <button
      type="button"
      class="name"
      tabIndex={isCurrent ? 0 : -1}
      aria-label={messages.files.folder(label)}
      title={visibleText(label)}
      onClick={open}
    >
      <ShownName name={label} />
    </button>
  )
  if (isTile) {
    return (
      <div ref={element} class="tile" role="gridcell" {...folderProps(props, open)}>
        {pick}
        <div class="tile-picture kind kind-folder">
          <Icon name="folder" />
        </div>
        {name}
        <div class="tile-foot" />
      </div>
    )
  }
  return (
    <div
      ref={element}
      class="row"
      role="row"
      aria-rowindex={index + 2}
      {...folderProps(props, open)}
    >
      <div class="cell cell-name" role="gridcell">
        {pick}
        <KindIcon kind="folder" />
        {name}
      </div>
    </div>
  )
}
