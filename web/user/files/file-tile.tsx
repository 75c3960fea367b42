import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { kindOf } from '../../shared/file-kind.ts'
import { firstClick } from '../../shared/first-click.ts'
import { formatBytes } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import { IconButton } from '../../shared/icon-button.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { VisibilityBadge } from '../../shared/visibility-badge.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import { type FileItemProps, itemProps, pickProps, releaseFocus } from './file-item.ts'
import { nameIn } from '../../shared/folder.ts'

export interface FileTileProps extends FileItemProps {
  /** Nothing is loaded for tiles that are only rendered. */
  readonly isInView: boolean
  readonly thumbnails: Thumbnails
}

/** One file, with a thumbnail if it is a photo. */
export function FileTile(props: FileTileProps) {
  const { file, folder, index, isCurrent, isInView, thumbnails, onAct } = props
  const { name, size, visibility, media_type: type } = file
  const kind = kindOf(name, type)
  const tabIndex = isCurrent ? 0 : -1
  const tile = useRef<HTMLDivElement>(null)
  const url = useThumbnail({ file, isInView, thumbnails })
  useLayoutEffect(() => () => releaseFocus(tile.current), [index])
  return (
    <div ref={tile} class="tile" role="gridcell" {...itemProps(props, file)}>
      <input {...pickProps(props, name)} />
      <div class={`tile-picture kind kind-${kind}`}>
        {url === undefined ? (
          <Icon name={kind} />
        ) : (
          <img src={url} alt="" decoding="async" draggable={false} />
        )}
      </div>
      <button
        type="button"
        class="name"
        tabIndex={tabIndex}
        title={visibleText(name)}
        onClick={firstClick(() => onAct('open', file))}
      >
        <ShownName name={nameIn(folder, name)} />
      </button>
      <div class="tile-foot">
        <span class="quiet">{formatBytes(size)}</span>
        <VisibilityBadge visibility={visibility} />
        <IconButton
          class="tile-more"
          icon="more"
          label={messages.files.more(name)}
          tabIndex={tabIndex}
          onClick={() => onAct('more', file)}
        />
      </div>
    </div>
  )
}

interface Shown {
  readonly version: string
  readonly url: string
}

/** The address of the thumbnail, once there is one. It is loaded while the tile is in view, and stays while it is rendered. */
function useThumbnail({
  file,
  isInView,
  thumbnails,
}: Pick<FileTileProps, 'file' | 'isInView' | 'thumbnails'>): string | undefined {
  const [shown, setShown] = useState<Shown>()
  const version = file.etag
  const isShown = shown?.version === version
  useEffect(() => {
    if (!isInView || isShown) return undefined
    const leaving = new AbortController()
    async function load(): Promise<void> {
      const thumbnail = await thumbnails.load(file, leaving.signal)
      if (thumbnail === undefined || leaving.signal.aborted) return
      setShown({ version, url: URL.createObjectURL(thumbnail) })
    }
    void load()
    return () => leaving.abort(new Error('Out of view.'))
  }, [version, isInView, isShown])
  useEffect(() => () => URL.revokeObjectURL(shown?.url ?? ''), [shown])
  return isShown ? shown.url : undefined
}
