import { useState } from 'preact/hooks'
import { formatBytes, formatWholeTime } from '../../shared/format.ts'
import { Icon } from '../../shared/icon.tsx'
import type { PastVersion } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import { kindOf } from '../../shared/file-kind.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'

const words = messages.history

export interface PastRowProps {
  readonly past: PastVersion
  readonly url: string
  /** Never rejects. `undefined` if the token does not permit it. */
  readonly onRestore: ((past: PastVersion) => Promise<void>) | undefined
  readonly onPurge: () => void
}

/** One replaced or deleted file. */
export function PastRow({ past, url, onRestore, onPurge }: PastRowProps) {
  const { name, size, ended_as: how, ended_at: end, expires_at: expiry } = past
  const [isBusy, setBusy] = useState(false)
  const ended = words.ended[how](end)
  const label = `${name}, ${ended}`
  const kind = kindOf(name)

  async function restore(): Promise<void> {
    if (isBusy) return
    setBusy(true)
    await onRestore?.(past)
    setBusy(false)
  }

  return (
    <li class="past-row">
      <span class={`kind kind-${kind}`}>
        <Icon name={kind} />
      </span>
      <div class="upload-words">
        <span class="upload-name" title={visibleText(name)}>
          <ShownName name={name} />
        </span>
        <span class="upload-state quiet">
          {formatBytes(size)},{' '}
          <time dateTime={end} title={formatWholeTime(end)}>
            {ended}
          </time>
          , {messages.unfinished.kept(expiry)}
        </span>
      </div>
      <a
        class="icon-button"
        href={url}
        download={name}
        aria-label={words.download(label)}
        title={words.actions.download}
      >
        <Icon name="download" />
      </a>
      {onRestore !== undefined && (
        <button
          type="button"
          class="icon-button"
          aria-label={words.restore(label)}
          title={words.actions.restore}
          aria-busy={isBusy}
          onClick={() => void restore()}
        >
          <Icon name="restore" />
        </button>
      )}
      <button
        type="button"
        class="icon-button"
        aria-label={words.purge(label)}
        title={words.actions.purge}
        onClick={onPurge}
      >
        <Icon name="remove" />
      </button>
    </li>
  )
}
