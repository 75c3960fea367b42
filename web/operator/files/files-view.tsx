import { useEffect, useMemo, useState } from 'preact/hooks'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { Icon } from '../../shared/icon.tsx'
import { Search } from '../../shared/search.tsx'
import { SortField } from '../../shared/sort-field.tsx'
import { messages } from '../../messages.ts'
import { operatorWords } from '../words.ts'
import type { Page } from '../page.ts'
import { addressOf } from '../route.ts'
import { createUserFiles, type UserFile } from './user-files.ts'
import { UserFileTable } from './user-file-table.tsx'

const words = operatorWords.userFiles

/** The files of a user, to find and to delete. */
export function FilesView({ page, userId }: { readonly page: Page; readonly userId: string }) {
  const list = useMemo(() => createUserFiles(page.reader, userId), [userId])
  const [ending, setEnding] = useState<UserFile>()
  const { query, items, isReading } = list
  const { contains, order } = query.value

  useEffect(() => {
    void page.toasts.attempt(() => list.load())
    // A search that finds nothing would read on to the last page.
    return list.clear
  }, [list])
  return (
    <main class="files card">
      <div class="toolbar">
        <a class="button button-plain toolbar-link" href={addressOf(userId)}>
          <Icon name="left" />
          <span>{userId}</span>
        </a>
        <Search
          label={words.find}
          maxLength={1_024}
          onSearch={(text) => void page.toasts.attempt(() => list.load({ contains: text, order }))}
        />
        <SortField
          label={messages.files.sortBy}
          orders={messages.files.orders}
          order={order}
          onSort={(next) => void page.toasts.attempt(() => list.load({ contains, order: next }))}
        />
      </div>
      <h2 class="unseen">{words.title(userId)}</h2>
      {items.value.length === 0 ? (
        <p class="empty quiet" role="status">
          {isReading.value ? messages.files.loading : words.empty(contains)}
        </p>
      ) : (
        <UserFileTable
          list={list}
          onMore={() => void page.toasts.attempt(() => list.loadMore())}
          onDelete={page.may('support') ? setEnding : undefined}
        />
      )}
      {ending !== undefined && (
        <DeleteDialog
          remove={() => page.client.user(userId).files.delete(ending.name)}
          title={words.deleteTitle}
          subject={ending.name}
          action={words.delete}
          text={words.deleteText(userId)}
          onChange={() => list.drop(({ name }) => name === ending.name)}
          onClose={() => setEnding(undefined)}
        />
      )}
    </main>
  )
}
