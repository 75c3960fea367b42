import { useEffect, useMemo } from 'preact/hooks'
import type { AdminClient, OperatorAction } from '../../../packages/js/src/admin.ts'
import { firstPage } from '../../shared/connection.ts'
import { Icon } from '../../shared/icon.tsx'
import { messages } from '../../messages.ts'
import type { Page } from '../page.ts'
import { createPagedList, type PagedList } from '../paged-list.ts'
import { addressOf } from '../route.ts'
import { ActionEntry } from './action-entry.tsx'
import { words } from './words.ts'

export interface AuditViewProps {
  readonly page: Page
  /** Shows what concerns one user; `undefined`: everything. */
  readonly userId: string | undefined
}

/** What operators did, newest first, page by page. */
export function AuditView({ page, userId }: AuditViewProps) {
  const { reader, toasts, watch } = page
  const list = useMemo(() => createActionList(reader, userId), [userId])
  const actions = list.items.value
  const isReading = list.isReading.value

  useEffect(() => {
    void toasts.attempt(() => list.load())
    return list.clear
  }, [list])
  // At the interval of the charts. A refused token is handled by the session.
  const moment = watch.samples.value.at(-1)?.at
  useEffect(() => void list.refresh().catch(() => undefined), [moment])
  return (
    <main class="list card">
      {userId !== undefined && (
        <div class="toolbar">
          <a class="button button-plain toolbar-link" href={addressOf(userId)}>
            <Icon name="left" />
            <span>{userId}</span>
          </a>
        </div>
      )}
      <div class="list-rows record">
        <h2>{userId === undefined ? words.title : words.of(userId)}</h2>
        {actions.length === 0 ? (
          <p class="quiet" role="status">
            {isReading ? messages.files.loading : words.empty}
          </p>
        ) : (
          <ul class="grants" aria-label={words.title}>
            {actions.map((entry) => (
              <ActionEntry key={entry.action_id} entry={entry} namesUser={userId === undefined} />
            ))}
          </ul>
        )}
        {list.hasMore.value && (
          <button
            type="button"
            class="button more"
            disabled={isReading}
            onClick={() => void toasts.attempt(() => list.loadMore())}
          >
            {messages.showMore}
          </button>
        )}
      </div>
    </main>
  )
}

const PAGE_ACTIONS = 100

function createActionList(
  { audit }: Pick<AdminClient, 'audit'>,
  userId: string | undefined,
): PagedList<OperatorAction, undefined> {
  return createPagedList({
    initial: undefined,
    async read(_query, cursor) {
      const page = await firstPage(audit.list({ userId, limit: PAGE_ACTIONS, cursor }))
      return { items: page?.actions ?? [], next: page?.next_cursor ?? null }
    },
  })
}
