import { useEffect, useState } from 'preact/hooks'
import { FormDialog } from '../shared/form-dialog.tsx'
import { Icon } from '../shared/icon.tsx'
import { Search } from '../shared/search.tsx'
import { SortField } from '../shared/sort-field.tsx'
import { messages } from '../messages.ts'
import { operatorWords } from './words.ts'
import { TextField } from '../shared/text-field.tsx'
import type { Page } from './page.ts'
import { addressOf } from './route.ts'
import { UserTable } from './user-table.tsx'

const words = operatorWords.users

/** All users, page by page. */
export function UsersView({ page }: { readonly page: Page }) {
  const { users, toasts } = page
  const { prefix, order } = users.query.value
  const [isMaking, setMaking] = useState(false)
  const [isReading, setReading] = useState(false)

  async function read(work: () => Promise<void>): Promise<void> {
    setReading(true)
    await toasts.attempt(work)
    setReading(false)
  }

  function search(prefix: string): Promise<void> {
    return users.load({ ...users.query.value, prefix })
  }

  /** Opens the user with that id, or the only one whose id has that prefix. */
  async function open(text: string): Promise<void> {
    await search(text)
    // A later search may have replaced this one.
    if (text === '' || users.query.value.prefix !== text) return
    const [first, ...others] = users.items.value
    if (first?.user_id.startsWith(text) !== true) return
    if (first.user_id === text || others.length === 0) location.hash = addressOf(first.user_id)
  }

  useEffect(() => void read(() => users.load()), [])
  // At the interval of the charts. A refused token is handled by the session.
  const moment = page.watch.samples.value.at(-1)?.at
  useEffect(() => void users.refresh().catch(() => undefined), [moment])
  return (
    <main class="list card">
      <div class="toolbar">
        <Search
          label={words.find}
          maxLength={64}
          initial={prefix}
          onSearch={(text) => void read(() => search(text.trim()))}
          onEnter={(text) => void read(() => open(text.trim()))}
        />
        <SortField
          label={messages.files.sortBy}
          orders={words.orders}
          order={prefix === '' ? order : 'user_id'}
          isDisabled={prefix !== ''}
          onSort={(next) => void read(() => users.load({ prefix, order: next }))}
        />
        <button type="button" class="button button-main" onClick={() => setMaking(true)}>
          <Icon name="account" />
          {words.make}
        </button>
      </div>
      <h2 class="unseen">{words.title}</h2>
      <div class="list-rows" aria-busy={isReading}>
        {users.items.value.length === 0 && !isReading ? (
          <Nobody prefix={prefix} />
        ) : (
          <UserTable users={users.items.value} />
        )}
        {users.hasMore.value && (
          <button
            type="button"
            class="button more"
            disabled={isReading}
            onClick={() => void read(() => users.loadMore())}
          >
            {messages.showMore}
          </button>
        )}
      </div>
      {isMaking && <MakeUserDialog page={page} onClose={() => setMaking(false)} />}
    </main>
  )
}

function Nobody({ prefix }: { readonly prefix: string }) {
  return (
    <div class="empty" role="status">
      <Icon name="users" />
      <p>
        <strong>{prefix === '' ? words.empty : words.noMatch(prefix)}</strong>
      </p>
      {prefix === '' && <p class="quiet">{words.emptyHint}</p>}
    </div>
  )
}

function MakeUserDialog({ page, onClose }: { readonly page: Page; readonly onClose: () => void }) {
  const [userId, setUserId] = useState('')

  async function make(): Promise<void> {
    const wanted = userId.trim()
    const { users } = page.client
    const account = await (wanted === '' ? users.create() : users.put(wanted))
    location.hash = addressOf(account.user_id)
  }

  return (
    <FormDialog title={words.make} action={words.makeAction} submit={make} onClose={onClose}>
      <TextField
        label={words.newId}
        hint={words.newIdHint}
        value={userId}
        onInput={(value) => setUserId(value)}
      />
    </FormDialog>
  )
}
