import { useEffect, useRef, useState } from 'preact/hooks'
import { isProblem } from '../../../packages/js/src/errors.ts'
import { Icon } from '../../shared/icon.tsx'
import { useKeptFocus } from '../../shared/kept-focus.ts'
import type { PastVersion } from '../../shared/model.ts'
import { visibleText } from '../../shared/visible-text.ts'
import { messages } from '../../messages.ts'
import { HISTORY_BUTTON } from '../files/file-browser.tsx'
import type { Page } from '../user-page.ts'
import { type HistoryQuestion, HistoryQuestionDialog } from './history-questions.tsx'
import { PastRow } from './past-row.tsx'
import type { HistoryView } from './past-versions.ts'
import { restoreRefusal } from '../../shared/versions/restore-refusal.ts'
import { words } from '../../shared/versions/words.ts'

export interface HistoryBrowserProps {
  readonly page: Page
  readonly view: HistoryView
}

/** Replaced and deleted files, of one name or of all, which can be restored. */
export function HistoryBrowser({ page, view }: HistoryBrowserProps) {
  const { history, toasts, permissions } = page
  const { may } = permissions
  const [question, setQuestion] = useState<HistoryQuestion>()
  const main = useRef<HTMLElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  useKeptFocus(main, () => heading.current)

  async function restore({ version, name }: PastVersion, overwrite: boolean): Promise<void> {
    await history.restore({ version, overwrite })
    toasts.show(words.restored(name))
  }

  async function tryRestore(past: PastVersion): Promise<void> {
    try {
      await restore(past, false)
    } catch (error) {
      if (isProblem(error, 'file_exists') && may('replace')) setQuestion({ kind: 'replace', past })
      else if (isProblem(error, 'precondition_failed') && !may('create'))
        toasts.show(messages.uploads.refusals.absent)
      else toasts.show(restoreRefusal(error, past.name))
    }
  }

  async function answer(asked: HistoryQuestion): Promise<void> {
    if (asked.kind === 'replace') return await restore(asked.past, true)
    await (asked.kind === 'purge' ? history.purge(asked.past.version) : history.purgeAll())
  }

  const versions = history.versions.value
  const isEmpty = versions.length === 0
  return (
    <main ref={main} class="files card">
      <div class="toolbar">
        <button type="button" class="button button-plain" onClick={() => leave(page)}>
          <Icon name="folder" />
          {messages.history.back}
        </button>
        <h2 class="toolbar-title" ref={heading} tabIndex={-1}>
          {view.name === undefined ? messages.history.title : words.of(visibleText(view.name))}
        </h2>
        {view.name === undefined && !isEmpty && permissions.prefix() === '' && (
          <button
            type="button"
            class="button button-bad"
            onClick={() => setQuestion({ kind: 'purge-all' })}
          >
            {words.purgeAll}
          </button>
        )}
      </div>
      {isEmpty ? (
        <Empty isLoading={history.isLoading.value} />
      ) : (
        <div class="list-rows">
          <ul aria-label={messages.history.title}>
            {versions.map((past) => (
              <PastRow
                key={past.version}
                past={past}
                url={page.connection.urlOf(history.pathOf(past.version))}
                onRestore={permissions.mayUpload() ? tryRestore : undefined}
                onPurge={() => setQuestion({ kind: 'purge', past })}
              />
            ))}
          </ul>
          {history.hasMore.value && (
            <button type="button" class="button more" onClick={() => history.loadMore()}>
              {messages.showMore}
            </button>
          )}
        </div>
      )}
      {question !== undefined && (
        <HistoryQuestionDialog
          question={question}
          submit={() => answer(question)}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </main>
  )
}

function Empty({ isLoading }: { readonly isLoading: boolean }) {
  if (isLoading) {
    return (
      <p class="empty quiet" role="status">
        {messages.files.loading}
      </p>
    )
  }
  return (
    <div class="empty" role="status">
      <Icon name="history" />
      <p>
        <strong>{words.empty}</strong>
      </p>
      <p class="quiet">{words.emptyHint}</p>
    </div>
  )
}

function leave({ history }: Page): void {
  history.close()
  requestAnimationFrame(() => document.getElementById(HISTORY_BUTTON)?.focus())
}
