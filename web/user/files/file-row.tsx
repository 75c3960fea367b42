import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatBytes } from '../../shared/format.ts'
import { Icon, type IconName } from '../../shared/icon.tsx'
import type { Visibility } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { type FileItemProps, itemProps, pickProps, releaseFocus } from './file-window.ts'
import { nameIn } from './folder.ts'
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
  const kind = kindOf(name, type)
  const row = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => releaseFocus(row.current), [index])

  return (
    <div ref={row} class="row" role="row" aria-rowindex={index + 2} {...itemProps(props)}>
      <div class="cell cell-name" role="gridcell">
        <input {...pickProps(props)} />
        <span class={`kind kind-${kind}`}>
          <Icon name={kind} />
        </span>
        <button
          type="button"
          class="name"
          tabIndex={tabIndex}
          title={visibleText(name)}
          onClick={() => onAct('open', file)}
        >
          <ShownName name={nameIn(folder, name)} />
        </button>
        {visibility !== 'private' && <Badge visibility={visibility} />}
      </div>
      <div class="cell cell-size" role="gridcell">
        {formatBytes(size)}
      </div>
      <div class="cell cell-updated_at" role="gridcell">
        <time dateTime={changed} title={words.wholeTime(changed)}>
          {words.time(changed)}
        </time>
      </div>
      <div class="cell cell-actions" role="gridcell">
        <a
          class="icon-button wide-only"
          href={url}
          download={name}
          tabIndex={tabIndex}
          aria-label={words.download(name)}
          title={words.actions.download}
        >
          <Icon name="download" />
        </a>
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            class="icon-button wide-only"
            tabIndex={tabIndex}
            aria-label={words[action](name)}
            title={words.actions[action]}
            onClick={() => onAct(action, file)}
          >
            <Icon name={action} />
          </button>
        ))}
        <button
          type="button"
          class="icon-button narrow-only"
          tabIndex={tabIndex}
          aria-label={words.more(name)}
          onClick={() => onAct('more', file)}
        >
          <Icon name="more" />
        </button>
      </div>
    </div>
  )
}

const VISIBILITY_ICONS: Readonly<Record<Visibility, IconName>> = {
  private: 'lock',
  users: 'users',
  public: 'public',
}

/** Who else can download a file. */
export function Badge({ visibility }: { readonly visibility: Visibility }) {
  return (
    <span class="badge">
      <Icon name={VISIBILITY_ICONS[visibility]} />
      {messages.visibility.names[visibility]}
    </span>
  )
}
