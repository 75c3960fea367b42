import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../shared/icon.tsx'
import { IconButton } from '../../shared/icon-button.tsx'
import { messages } from '../../messages.ts'
import { itemProps, pickProps, releaseFocus } from '../files/file-item.ts'
import { nameIn, plainName } from '../../shared/folder.ts'
import { FolderCount, FolderName } from './folder-name.tsx'
import type { FolderItemProps } from './folder-row.tsx'

/** A folder in the grid. */
export function FolderTile(props: FolderItemProps) {
  const { folder, within, total, index, isCurrent, onAct } = props
  const label = plainName(nameIn(within, folder))
  const tabIndex = isCurrent ? 0 : -1
  const tile = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => releaseFocus(tile.current), [index])
  return (
    <div ref={tile} class="tile" role="gridcell" {...itemProps(props, folder)}>
      <input {...pickProps(props, messages.files.folder(label))} />
      <div class="tile-picture kind kind-folder">
        <Icon name="folder" />
      </div>
      <FolderName label={label} tabIndex={tabIndex} onOpen={() => onAct('open', folder)} />
      <div class="tile-foot">
        <FolderCount total={total} />
        <IconButton
          class="tile-more"
          icon="more"
          label={messages.files.more(label)}
          tabIndex={tabIndex}
          onClick={() => onAct('more', folder)}
        />
      </div>
    </div>
  )
}
