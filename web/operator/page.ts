import { effect, signal, untracked } from '@preact/signals'
import {
  type AdminSession,
  createAdminClient,
  type OperatorRole,
} from '../../packages/js/src/admin.ts'
import { createHttp } from '../../packages/js/src/http/http.ts'
import { connect } from '../shared/connection.ts'
import { createSession } from '../shared/session.ts'
import { createToasts } from '../shared/toasts.tsx'
import { isLoopback } from '../shared/sign-in-link.ts'
import { operatorWords } from './words.ts'
import { watchPlace } from './route.ts'
import { takeAdminToken } from './sign-in-link.ts'
import { createServiceWatch } from './charts/service-watch.ts'
import { createUserList } from './user-list.ts'
import { createWatched } from './watched.ts'

export type Page = ReturnType<typeof createPage>

/** Each may do what those before it may. */
export const ROLES: readonly OperatorRole[] = ['viewer', 'support', 'admin']

/** Composes the operator's page. `base` is its base URL. */
export function createPage(base: string) {
  const toasts = createToasts()
  const place = watchPlace()
  const connection = connect({ base, onRefusedToken })
  const reader = createAdminClient(connection.patient)
  const client = createAdminClient(connection.brief)
  const http = createHttp(connection.brief)
  const users = createUserList(reader)
  const overview = createWatched(() => reader.overview())
  const self = signal<AdminSession>()
  const session = createSession({
    http,
    ask: whoAmI,
    member: 'admin_token',
    nobody: 'unauthorized',
    words: operatorWords.signIn,
    trustsLinks: isLoopback(location.hostname),
    onChanging: async () => undefined,
    // Other tabs notice when their next request is refused.
    onChange: () => watch.clear(),
    onRefused: (reason) => toasts.show(reason),
  })
  const watch = createServiceWatch({
    http: createHttp(connection.once),
    isWanted: () => session.state.value.kind === 'open' && !document.hidden,
  })

  async function whoAmI(): Promise<void> {
    self.value = await reader.session()
  }

  /** Whether the role of the operator permits what needs this one. */
  function may(role: OperatorRole): boolean {
    return self.value !== undefined && ROLES.indexOf(self.value.role) >= ROLES.indexOf(role)
  }

  /** The suspension of a user does not end the session. */
  function onRefusedToken(cause: string): void {
    if (cause === 'unauthorized') session.refuse(cause)
  }

  async function signOut(): Promise<void> {
    await toasts.attempt(async () => {
      await session.signOut()
      users.clear()
    })
  }

  function start(adminToken: string | undefined): void {
    watch.start()
    effect(() => {
      if (session.state.value.kind === 'open') untracked(() => void watch.look())
    })
    // A sign-in link that is pasted into the address bar of an open tab.
    addEventListener('hashchange', () => {
      const pasted = takeAdminToken()
      if (pasted !== undefined) void session.begin(pasted)
    })
    void session.begin(adminToken)
  }

  return {
    client,
    connection,
    may,
    overview,
    place,
    reader,
    self,
    session,
    signOut,
    toasts,
    users,
    watch,
    start,
  }
}
