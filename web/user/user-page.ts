import { effect, untracked } from '@preact/signals'
import { createApi } from '../shared/api.ts'
import { messageOf } from '../shared/error-message.ts'
import { pause } from '../shared/sleep.ts'
import { createSession } from '../shared/session.ts'
import { createToasts } from '../shared/toasts.tsx'
import { texts } from '../messages.ts'
import { createCapacityFigures } from './capacity-figures.ts'
import { createFileList } from './files/file-list.ts'
import { createRemovals } from './undo-delete.ts'
import { createSender, type Sender } from './uploads/uppy-transport.ts'
import { isLoopback, takeAccessToken } from './sign-in-link.ts'
import { openTabs, type TabMessage } from './cross-tab.ts'
import { createUploads } from './uploads/queue.ts'

export type Page = ReturnType<typeof createPage>

/** How often the figures are read while something is being uploaded. */
const WATCH_MS = 2_000

/** In which other tabs have heard what they were told. */
const HEARD_MS = 50

/** A tab that said that somebody signs in, and has said nothing since, was closed. */
const CHANGE_MS = 10_000

/** Puts the parts of the page together. `base` is its folder, `target` where files can be dropped. */
export function createPage({
  base,
  target,
}: {
  readonly base: string
  readonly target: HTMLElement
}) {
  const toasts = createToasts()
  const tabs = openTabs(base)
  const api = createApi({ base, onRefusedToken: (reason) => session.refuse(reason) })
  const capacity = createCapacityFigures(api)
  const list = createFileList(api)
  const session = createSession({
    api: () => api,
    ask: () => capacity.read(),
    member: 'access_token',
    nobody: 'access_token_missing',
    words: texts.signIn,
    trustsLinks: isLoopback(location.hostname),
    async onChanging() {
      tabs.tell({ kind: 'session_changing' })
      await Promise.all([hold(), pause(HEARD_MS)])
    },
    onChange: () => tabs.tell({ kind: 'session' }),
    onRefused: (reason) => toasts.show(reason),
  })
  const removals = createRemovals({
    api,
    list,
    toasts,
    onRemoved(name) {
      capacity.refresh()
      tabs.tell({ kind: 'drop', name })
    },
  })
  let sender: Sender | undefined
  const uploads = createUploads({
    api,
    list,
    capacity,
    sender: () => (sender ??= createSender({ target, onDropped })),
    settle: (name) => removals.settle(name),
    onUploaded(file) {
      list.put(file)
      capacity.refresh()
      tabs.tell({ kind: 'put', file })
    },
  })

  function onDropped(files: Parameters<typeof uploads.add>[0]): void {
    if (session.state.value.kind === 'open') uploads.add(files)
  }

  /** What one user has begun is not sent under the name of the next. */
  async function hold(): Promise<void> {
    uploads.hold()
    await removals.settleAll()
  }

  function hear(message: TabMessage): void {
    switch (message.kind) {
      case 'session_changing':
        void hold()
        setTimeout(() => void session.look(), CHANGE_MS)
        break
      case 'session':
        void session.look()
        break
      case 'put':
        list.put(message.file)
        capacity.refresh()
        break
      case 'drop':
        list.drop(message.name)
        capacity.refresh()
        break
    }
  }

  let lastUser: string | undefined

  /** What one user was uploading is none of the next one's business. */
  function welcome(): void {
    const user = capacity.figures.value?.user_id
    if (user !== lastUser) {
      uploads.remove(uploads.items.value)
      list.clear()
    }
    lastUser = user
    // Who is signed out meanwhile sees that elsewhere.
    list.reload().catch(() => undefined)
    uploads.resume()
  }

  /** Who is thrown out may come back; who goes leaves nothing. */
  function part(mayReturn: boolean): void {
    list.clear()
    if (!mayReturn) uploads.remove(uploads.items.value)
  }

  async function signOut(): Promise<void> {
    try {
      await removals.settleAll()
      await session.signOut()
    } catch (error) {
      toasts.show(texts.failed(messageOf(error)))
    }
  }

  function start(accessToken: string | undefined): void {
    sender = createSender({ target, onDropped })
    tabs.listen(hear)
    effect(() => {
      const state = session.state.value
      untracked(() => {
        if (state.kind === 'open') welcome()
        else if (state.kind === 'closed') part(state.reason !== undefined)
      })
    })
    setInterval(() => {
      if (uploads.figures.value.active > 0 && session.state.value.kind === 'open')
        capacity.refresh()
    }, WATCH_MS)
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden && session.state.value.kind === 'open') capacity.refresh()
    })
    addEventListener('beforeunload', (event) => {
      if (uploads.figures.value.active > 0) event.preventDefault()
    })
    // A link that is pasted into the address of an open tab.
    addEventListener('hashchange', () => {
      const pasted = takeAccessToken()
      if (pasted !== undefined) void session.begin(pasted)
    })
    void session.begin(accessToken)
  }

  return { api, capacity, list, removals, session, signOut, tabs, toasts, uploads, start }
}
