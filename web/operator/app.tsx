import { Icon } from '../shared/icon.tsx'
import { OutageBanner } from '../shared/outage-banner.tsx'
import { ProductLinks } from '../shared/product.tsx'
import { SignIn } from '../shared/sign-in.tsx'
import { messages } from '../messages.ts'
import { operatorWords } from './words.ts'
import { AuditView } from './audit/audit-view.tsx'
import { words as auditWords } from './audit/words.ts'
import { FilesView } from './files/files-view.tsx'
import { OverviewView } from './overview/overview-view.tsx'
import { OperatorsView } from './operators/operators-view.tsx'
import type { Page } from './page.ts'
import { ALL_USERS, AUDIT, OPERATORS, OVERVIEW, type Place } from './route.ts'
import { ServicePanel } from './charts/service-panel.tsx'
import { UserView } from './user/user-view.tsx'
import { UsersView } from './users-view.tsx'

const words = operatorWords

export function App({ page }: { readonly page: Page }) {
  const { session, connection, watch, toasts } = page
  const state = session.state.value
  const isLost = !connection.isConnected.value || watch.health.value.kind === 'unreachable'
  return (
    <>
      {isLost && <OutageBanner />}
      {state.kind === 'closed' && (
        <SignIn session={session} words={words.signIn} reason={state.reason} />
      )}
      {state.kind === 'opening' && (
        <main class="opening" aria-busy="true">
          <h1 class="unseen">{messages.product}</h1>
          <p class="quiet">{messages.files.loading}</p>
        </main>
      )}
      {state.kind === 'open' && <Desk page={page} />}
      <toasts.View />
    </>
  )
}

function Desk({ page }: { readonly page: Page }) {
  const place = page.place.value
  return (
    <div class="shell desk">
      <header class="top">
        <span class="mark" aria-hidden="true" />
        <h1 class="product">
          {messages.product} <span class="quiet">{words.title}</span>
        </h1>
        <Views place={place} />
        <Who page={page} />
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
        <View page={page} place={place} />
        <ServicePanel watch={page.watch} />
      </div>
      <ProductLinks />
    </div>
  )
}

function Who({ page }: { readonly page: Page }) {
  const self = page.self.value
  if (self === undefined) return null
  const name = self.operator ?? 'ADMIN_TOKEN'
  return (
    <span class="who quiet" title={words.operators.self(name, words.roles[self.role])}>
      {words.operators.self(name, words.roles[self.role])}
    </span>
  )
}

function Views({ place }: { readonly place: Place }) {
  const isOverview = place.kind === 'overview'
  const isTrail = place.kind === 'audit' && place.userId === undefined
  const isOperators = place.kind === 'operators'
  const isUsers = !isOverview && !isTrail && !isOperators
  const views = [
    { href: OVERVIEW, name: words.views.overview, isCurrent: isOverview },
    { href: ALL_USERS, name: words.views.users, isCurrent: isUsers },
    { href: AUDIT, name: auditWords.title, isCurrent: isTrail },
    { href: OPERATORS, name: words.operators.title, isCurrent: isOperators },
  ]
  return (
    <nav class="views" aria-label={words.views.title}>
      {views.map(({ href, name, isCurrent }) => (
        <a key={href} class="button" href={href} aria-current={isCurrent ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}

function View({ page, place }: { readonly page: Page; readonly place: Place }) {
  switch (place.kind) {
    case 'overview':
      return <OverviewView page={page} />
    case 'users':
      return <UsersView page={page} />
    case 'user':
      return <UserView key={place.userId} page={page} userId={place.userId} />
    case 'files':
      return <FilesView key={place.userId} page={page} userId={place.userId} />
    case 'operators':
      return <OperatorsView page={page} />
    case 'audit':
      return <AuditView key={place.userId} page={page} userId={place.userId} />
  }
}
