import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Http } from '../../packages/js/src/http/http.ts'
import { causeOf, TWO_TOKENS } from './connection.ts'
import { failureOf } from './error-message.ts'

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  /** `hasLeftovers`: signing out removes the cookies that prevent signing in. */
  | {
      readonly kind: 'closed'
      readonly reason: string | undefined
      readonly hasLeftovers?: boolean
    }

export interface Session {
  readonly state: ReadonlySignal<SessionState>
  /** Whether a sign-in link waits for confirmation. */
  readonly hasLink: ReadonlySignal<boolean>
  /**
   * Determines whether the user is signed in. With `trustsLinks`, and if nobody is signed in, the token of a link signs
   * in at once. Otherwise it waits for `followLink`: a foreign link could make users upload to its author's account.
   */
  begin(token: string | undefined): Promise<void>
  followLink(): Promise<void>
  dismissLink(): void
  signIn(token: string): Promise<void>
  signOut(): Promise<void>
  /** Checks the session again, after another tab has signed in or out. */
  look(): Promise<void>
  /** Ends the session after the service has refused the token; `reason` is the `causeOf` the error. */
  refuse(reason: string): void
}

export interface SessionOptions {
  /** `call` signs in, and `remove` signs out. */
  readonly http: Pick<Http, 'call' | 'remove'>
  /** A request that succeeds only while signed in. */
  readonly ask: () => Promise<unknown>
  /** The JSON member that holds the token. */
  readonly member: 'access_token' | 'admin_token'
  /** The error code of a request without a token. */
  readonly nobody: string
  /** `reasons`: by error code, or `ended`. `notKept`: the browser did not store the cookie. */
  readonly words: {
    readonly notKept: string
    readonly reasons: Readonly<Record<string, string> & { ended: string }>
  }
  /** Whether links sign in without confirmation. */
  readonly trustsLinks: boolean
  /** Called before a sign-in; resolves when nothing more is sent for the previous user. */
  readonly onChanging: () => Promise<void>
  /** Called after a sign-in, an attempt, or a sign-out in this tab. */
  readonly onChange: () => void
  /** Called when the token of a link was refused; the previous user is still signed in. */
  readonly onRefused: (reason: string) => void
}

/** The sign-in state. The token is stored only in a cookie that scripts cannot read. */
export function createSession(options: SessionOptions): Session {
  const { http, ask, member, nobody, words, trustsLinks, onChanging, onChange, onRefused } = options
  const { reasons } = words
  const state = signal<SessionState>({ kind: 'opening' })
  const link = signal<string | undefined>(undefined)
  let looks = 0

  /** Also makes an answer that is still awaited obsolete. */
  function change(next: SessionState): void {
    looks += 1
    state.value = next
  }

  function close(reason?: string): void {
    change({ kind: 'closed', reason })
  }

  function closedFor(error: unknown): SessionState {
    const code = causeOf(error)
    if (code === nobody) return { kind: 'closed', reason: undefined }
    return { kind: 'closed', reason: reasonOf(error), hasLeftovers: code === TWO_TOKENS }
  }

  async function find(): Promise<SessionState> {
    try {
      await ask()
      return { kind: 'open' }
    } catch (error) {
      return closedFor(error)
    }
  }

  /** Asks the service. The answer counts unless the state was changed, or asked for again, meanwhile. */
  async function look(): Promise<void> {
    const mine = (looks += 1)
    const found = await find()
    if (mine === looks) state.value = found
  }

  async function signIn(token: string): Promise<void> {
    const wasOpen = state.value.kind === 'open'
    await onChanging()
    try {
      await http.call({ method: 'POST', path: 'session', json: { [member]: token } })
      const found = await find()
      // Without a reason, the service saw no token.
      const isKept = found.kind !== 'closed' || found.reason !== undefined
      change(isKept ? found : { kind: 'closed', reason: words.notKept })
    } catch (error) {
      if (wasOpen) {
        await look()
        onRefused(reasonOf(error))
      } else close(reasonOf(error))
    }
    onChange()
  }

  function reasonOf(error: unknown): string {
    return wordOf(causeOf(error)) ?? failureOf(error)
  }

  function wordOf(code: string): string | undefined {
    return Object.hasOwn(reasons, code) ? reasons[code] : undefined
  }

  return {
    state,
    look,
    signIn,

    hasLink: computed(() => link.value !== undefined),

    async begin(token) {
      const found = await find()
      if (token !== undefined && trustsLinks && found.kind === 'closed') {
        await signIn(token)
        return
      }
      change(found)
      link.value = token
    },

    async followLink() {
      const token = link.value
      if (token !== undefined) await signIn(token)
      link.value = undefined
    },

    dismissLink() {
      link.value = undefined
    },

    async signOut() {
      await http.remove({ path: 'session' })
      close()
      onChange()
    },

    refuse(reason) {
      if (state.value.kind !== 'open') return
      const hasLeftovers = reason === TWO_TOKENS
      const isTold = hasLeftovers || reason === 'user_suspended'
      // A look whose own request was refused still tells the more exact reason.
      state.value = {
        kind: 'closed',
        reason: isTold ? wordOf(reason) : reasons.ended,
        hasLeftovers,
      }
    },
  }
}
