import { IconButton } from '../../shared/icon-button.tsx'
import type { UploadEntry } from '../../shared/model.ts'
import { messages } from '../../messages.ts'
import type { Page } from '../user-page.ts'
import { storingRefused } from './upload-failure.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { words } from '../../shared/unfinished-words.ts'
import { visibleText } from '../../shared/visible-text.ts'

/** The unfinished uploads that no item of this page continues: how much of each has arrived, and its expiry. */
export function UnfinishedList({ page }: { readonly page: Page }) {
  const { unfinished, uploads } = page
  // The figures change when an item adopts an upload.
  const { all } = uploads.figures.value
  const listed = unfinished.uploads.value.filter(
    ({ upload_id: id }) => all === 0 || !uploads.owns(id),
  )
  if (listed.length === 0) return null
  return (
    <details class="unfinished" open>
      <summary>{headline(listed)}</summary>
      <ul class="unfinished-rows" aria-label={words.title}>
        {listed.map((upload) => (
          <UnfinishedRow key={upload.upload_id} upload={upload} page={page} />
        ))}
      </ul>
    </details>
  )
}

function headline(listed: readonly UploadEntry[]): string {
  const count = (state: UploadEntry['state']): number =>
    listed.filter((upload) => upload.state === state).length
  const parts = [
    [count('open'), words.interrupted],
    [count('complete'), words.complete],
    [count('receiving'), words.elsewhere],
  ] as const
  return parts.flatMap(([most, say]) => (most === 0 ? [] : [say(most)])).join(' ')
}

interface RowProps {
  readonly upload: UploadEntry
  readonly page: Page
}

function UnfinishedRow({ upload, page }: RowProps) {
  const { upload_id: id, name, offset, length, state } = upload
  const percent = length === null || length === 0 ? 0 : Math.floor((offset / length) * 100)
  return (
    <li class="unfinished-row">
      <div class="upload-words">
        <span class="upload-name" title={visibleText(name)}>
          <ShownName name={name} />
        </span>
        <span
          class="bar bar-thin"
          role="progressbar"
          aria-label={words.progress(name)}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent}
        >
          <span style={{ width: `${percent}%` }} />
        </span>
        <span class="upload-state quiet">{stateText(upload)}</span>
      </div>
      {state === 'complete' && (
        <IconButton
          icon="retry"
          label={words.retry(name)}
          title={messages.retry}
          onClick={() => void page.finishUpload(upload)}
        />
      )}
      <IconButton
        icon="close"
        label={words.cancel(name)}
        title={messages.cancel}
        onClick={() => void page.cancelUpload(id)}
      />
    </li>
  )
}

function stateText({ state, offset, length, refusal, expires_at: end }: UploadEntry): string {
  const received = words.received(offset, length)
  if (state === 'receiving') return `${words.receiving}, ${received}`
  if (state === 'complete') {
    return `${storingRefused(refusal ?? '') ?? words.arrived} ${received}, ${words.kept(end)}`
  }
  return `${received}, ${words.kept(end)}`
}
