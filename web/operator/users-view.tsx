import { useEffect, useState } from 'preact/hooks'
import { ProblemError } from '../shared/api.ts'
import { FormDialog } from '../shared/form-dialog.tsx'
import { Icon } from '../shared/icon.tsx'
import { messageOf } from '../shared/message-of.ts'
import { texts } from '../texts.ts'
import { TextField } from './form-fields.tsx'
import type { Account } from './model.ts'
import type { Page } from './page.ts'
import { addressOf } from './place.ts'
import { UserTable } from './user-table.tsx'

const words = texts.operator.users

/** All users, a page of them at a time. */
export function UsersView({ page }: { readonly page: Page }) {
  const { users, toasts } = page
  const [isMaking, setMaking] = useState(false)
  const [isReading, setReading] = useState(false)

  async function read(work: () => Promise<void>): Promise<void> {
    setReading(true)
    await work().catch((error: unknown) => toasts.show(texts.failed(messageOf(error))))
    setReading(false)
  }

  useEffect(() => void read(() => users.load()), [])
  // As often as the charts move. Who is signed out meanwhile sees that elsewhere.
  const moment = page.watch.samples.value.at(-1)?.at
  useEffect(() => void users.refresh().catch(() => undefined), [moment])
  return (
    <main class="list card">
      <div class="toolbar">
        <FindUser page={page} />
        <button type="button" class="button button-main" onClick={() => setMaking(true)}>
          <Icon name="account" />
          {words.make}
        </button>
      </div>
      <h2 class="unseen">{words.title}</h2>
      <div class="list-rows" aria-busy={isReading}>
        {users.users.value.length === 0 && !isReading ? (
          <div class="empty">
            <Icon name="users" />
            <p>
              <strong>{words.empty}</strong>
            </p>
            <p class="quiet">{words.emptyHint}</p>
          </div>
        ) : (
          <UserTable users={users.users.value} />
        )}
        {users.hasMore.value && (
          <button
            type="button"
            class="button more"
            disabled={isReading}
            onClick={() => void read(() => users.loadMore())}
          >
            {words.more}
          </button>
        )}
      </div>
      {isMaking && <MakeUserDialog page={page} onClose={() => setMaking(false)} />}
    </main>
  )
}

/** Opens the user of an id. */
function FindUser({ page }: { readonly page: Page }) {
  const [userId, setUserId] = useState('')
  const [problem, setProblem] = useState<string>()

  async function find(): Promise<void> {
    const wanted = userId.trim()
    if (wanted === '') return
    try {
      await page.api.call<Account>(`admin/users/${encodeURIComponent(wanted)}`, {})
      location.hash = addressOf(wanted)
    } catch (error) {
      const isNone = error instanceof ProblemError && [400, 404].includes(error.status)
      setProblem(isNone ? words.none(wanted) : texts.failed(messageOf(error)))
    }
  }

  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        void find()
      }}
    >
      <Icon name="search" />
      <input
        class="field"
        type="search"
        value={userId}
        placeholder={words.find}
        aria-label={words.find}
        aria-invalid={problem !== undefined}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => {
          setUserId(event.currentTarget.value)
          setProblem(undefined)
        }}
      />
      {problem !== undefined && (
        <p class="notice notice-bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}

function MakeUserDialog({ page, onClose }: { readonly page: Page; readonly onClose: () => void }) {
  const [userId, setUserId] = useState('')

  async function make(): Promise<void> {
    const wanted = userId.trim()
    const { api } = page
    const account = await (wanted === ''
      ? api.call<Account>('admin/users', { method: 'POST' })
      : api.call<Account>(`admin/users/${encodeURIComponent(wanted)}`, { method: 'PUT' }))
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
