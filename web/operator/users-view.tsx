import { useEffect, useState } from 'preact/hooks'
import type { User } from '../../packages/js/src/admin.ts'
import { isProblem } from '../../packages/js/src/errors.ts'
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
  const { contains, order } = users.query.value
  const [isMaking, setMaking] = useState(false)
  const [isReading, setReading] = useState(false)

  async function read(work: () => Promise<void>): Promise<void> {
    setReading(true)
    await toasts.attempt(work)
    setReading(false)
  }

  function search(contains: string): Promise<void> {
    return users.load({ ...users.query.value, contains })
  }

  /** Opens the user with that id, or the only one who is found. */
  async function open(text: string): Promise<void> {
    await search(text)
    const user = text === '' ? undefined : await chosen(text)
    // A later search may have replaced this one.
    if (user === undefined || users.query.value.contains !== text) return
    location.hash = addressOf(user.user_id)
  }

  async function chosen(text: string): Promise<User | undefined> {
    const found = users.items.value
    const named = found.find(({ user_id: id }) => id === text)
    if (named !== undefined || !users.hasMore.value) return named ?? only(found)
    return page.reader.users.get(text).catch((error: unknown) => {
      if (isProblem(error, 'not_found', 'invalid_parameter')) return undefined
      throw error
    })
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
          maxLength={200}
          initial={contains}
          onSearch={(text) => void read(() => search(text.trim()))}
          onEnter={(text) => void read(() => open(text.trim()))}
        />
        <SortField
          label={messages.files.sortBy}
          orders={words.orders}
          order={contains === '' ? order : 'user_id'}
          isDisabled={contains !== ''}
          onSort={(next) => void read(() => users.load({ contains, order: next }))}
        />
        {page.may('admin') && (
          <button type="button" class="button button-main" onClick={() => setMaking(true)}>
            <Icon name="account" />
            {words.make}
          </button>
        )}
      </div>
      <h2 class="unseen">{words.title}</h2>
      <div class="list-rows" aria-busy={isReading}>
        {users.items.value.length === 0 && !isReading ? (
          <Nobody text={contains} />
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

function only<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined
}

function Nobody({ text }: { readonly text: string }) {
  return (
    <div class="empty" role="status">
      <Icon name="users" />
      <p>
        <strong>{text === '' ? words.empty : words.noMatch(text)}</strong>
      </p>
      {text === '' && <p class="quiet">{words.emptyHint}</p>}
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
