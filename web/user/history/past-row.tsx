import { useState } from 'preact/hooks'
import { formatBytes, formatWholeTime } from '../../shared/format.ts'
import { DownloadButton, IconButton } from '../../shared/icon-button.tsx'
import { KindIcon } from '../../shared/kind-icon.tsx'
import type { PastVersion } from '../../shared/model.ts'
import { kindOf } from '../../shared/file-kind.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { visibleText } from '../../shared/visible-text.ts'
import { words } from '../../shared/versions/words.ts'

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

  async function restore(): Promise<void> {
    if (isBusy) return
    setBusy(true)
    await onRestore?.(past)
    setBusy(false)
  }

  return (
    <li class="past-row">
      <KindIcon kind={kindOf(name)} />
      <div class="upload-words">
        <span class="upload-name" title={visibleText(name)}>
          <ShownName name={name} />
        </span>
        <span class="upload-state quiet">
          {formatBytes(size)},{' '}
          <time dateTime={end} title={formatWholeTime(end)}>
            {ended}
          </time>
          , {words.kept(expiry)}
        </span>
      </div>
      <DownloadButton url={url} name={name} label={words.download(label)} />
      {onRestore !== undefined && (
        <IconButton
          icon="restore"
          label={words.restore(label)}
          title={words.actions.restore}
          isBusy={isBusy}
          onClick={() => void restore()}
        />
      )}
      <IconButton
        icon="remove"
        label={words.purge(label)}
        title={words.actions.purge}
        onClick={onPurge}
      />
    </li>
  )
}
