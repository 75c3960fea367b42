import { messages } from '../messages.ts'
import { Icon } from '../shared/icon.tsx'
import { IconButton } from '../shared/icon-button.tsx'
import { OutageBanner } from '../shared/outage-banner.tsx'
import { ProductLinks } from '../shared/product.tsx'
import { SignIn } from '../shared/sign-in.tsx'
import { visibleText } from '../shared/visible-text.ts'
import type { OwnToken } from '../shared/model.ts'
import { ACCESS_BUTTON } from './access/access.ts'
import { CapacityPanel } from './capacity-panel.tsx'
import { FileBrowser } from './files/file-browser.tsx'
import { labelOf } from '../shared/folder.ts'
import { LinkQuestion } from './link-question.tsx'
import { useShortcuts } from './shortcuts/use-shortcuts.tsx'
import type { Page } from './user-page.ts'

export function App({ page }: { readonly page: Page }) {
  const { session, connection, toasts, permissions } = page
  if (page.isLeaving.value) return <Opening />
  const isOpen = session.state.value.kind === 'open'
  const user = isOpen ? permissions.token.value?.user_id : undefined
  return (
    <>
      {!connection.isConnected.value && <OutageBanner />}
      {session.hasLink.value ? (
        <LinkQuestion session={session} user={user} />
      ) : (
        <View page={page} />
      )}
      <toasts.View />
    </>
  )
}

function View({ page }: { readonly page: Page }) {
  const { session, uploads } = page
  const state = session.state.value
  switch (state.kind) {
    case 'opening':
      return <Opening />
    case 'closed': {
      const kept = uploads.figures.value.active
      return (
        <SignIn
          session={session}
          words={messages.signIn}
          reason={state.reason}
          onSignOut={state.hasLeftovers === true ? () => void page.signOut() : undefined}
          kept={kept > 0 ? messages.signIn.uploadsKept(kept) : undefined}
        />
      )
    }
    case 'open':
      return <Repository page={page} />
  }
}

function Opening() {
  return (
    <main class="opening" aria-busy="true">
      <h1 class="unseen">{messages.product}</h1>
      <p class="quiet">{messages.files.loading}</p>
    </main>
  )
}

function Repository({ page }: { readonly page: Page }) {
  const { may, mayUpload, token } = page.permissions
  const user = token.value?.user_id ?? ''
  const { showHelp, help } = useShortcuts(page)
  return (
    <div class="shell">
      <header class="top">
        <span class="mark" aria-hidden="true" />
        <h1 class="product">{messages.product}</h1>
        <Limits token={token.value} />
        <span class="user" title={user}>
          {user}
        </span>
        {may('share') && (
          <button
            id={ACCESS_BUTTON}
            type="button"
            class="button button-plain"
            aria-label={messages.access}
            onClick={() => void page.toasts.attempt(() => page.access.open())}
          >
            <Icon name="share" />
            <span>{messages.access}</span>
          </button>
        )}
        <IconButton
          class="keyboard-help"
          icon="keyboard"
          label={messages.keyboard}
          onClick={showHelp}
        />
        <button
          type="button"
          class="button button-plain"
          aria-label={messages.signIn.signOut}
          onClick={() => void page.signOut()}
        >
          <Icon name="signOut" />
          <span>{messages.signIn.signOut}</span>
        </button>
      </header>
      <div class="columns">
        <MainView page={page} />
        <CapacityPanel page={page} />
      </div>
      <ProductLinks />
      {help}
      {page.UploadPanel.value !== undefined && (
        <page.UploadPanel.value
          uploads={page.uploads}
          isConnected={page.connection.isConnected.value}
        />
      )}
      {mayUpload() && (
        <div class="drop-hint" aria-hidden="true">
          <p>
            <Icon name="upload" />
            <DropHint page={page} />
          </p>
        </div>
      )}
    </div>
  )
}

function DropHint({ page }: { readonly page: Page }) {
  const { path, base } = page.list
  const folder = page.folders.target.value ?? path.value
  if (folder === base.value) return <>{messages.files.dropHere}</>
  return <>{messages.folders.dropHere(visibleText(labelOf(folder)))}</>
}

/** Says that the token has a scope, and until when it is valid. */
function Limits({ token }: { readonly token: OwnToken | undefined }) {
  const { scope = null, expires_at: end = null } = token ?? {}
  if (scope === null) return null
  const actions = scope.actions.map((action) => messages.limits.actions[action])
  return (
    <span class="limits" title={actions.join(', ')}>
      {messages.limits.title}
      {end !== null && <span>{messages.limits.until(end)}</span>}
    </span>
  )
}

function MainView({ page }: { readonly page: Page }) {
  const { access, history } = page
  const AccessView = access.View.value
  if (AccessView !== undefined) return <AccessView page={page} />
  const [view, HistoryView] = [history.view.value, page.HistoryView.value]
  // The files are shown until the view of the history is loaded.
  return view === undefined || HistoryView === undefined ? (
    <FileBrowser page={page} />
  ) : (
    <HistoryView page={page} view={view} />
  )
}
