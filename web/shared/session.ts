import { type ReadonlySignal, signal } from '@preact/signals'
import { texts } from '../texts.ts'
import { type Api, ProblemError } from './api.ts'
import { messageOf } from './message-of.ts'

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  /** With a word why, where there is one to say. */
  | { readonly kind: 'closed'; readonly reason: string | undefined }

export interface Session {
  readonly state: ReadonlySignal<SessionState>
  /** Signs in with what the address or nothing says. */
  begin(token: string | undefined): Promise<void>
  signIn(token: string): Promise<void>
  signOut(): Promise<void>
  /** Another tab has signed in or out. */
  look(): Promise<void>
  /** The service refused the token. */
  refuse(code: string): void
}

export interface SessionOptions {
  readonly api: () => Api
  /** Asks for something that only whoever is signed in gets. */
  readonly ask: () => Promise<unknown>
  /** What the service calls the token. */
  readonly member: 'access_token' | 'admin_token'
  /** The code of what it refuses while nobody is signed in. */
  readonly nobody: string
  /** What is said of the codes of refusals, of an `ended` session, and of a cookie that the browser did `notKeep`. */
  readonly words: {
    readonly notKept: string
    readonly reasons: Readonly<Record<string, string> & { ended: string }>
  }
  /** Somebody signed in, or out, here. */
  readonly onChange: () => void
}

/** Whose page this is. The token itself is in a cookie that no script can read, and nowhere else. */
export function createSession(options: SessionOptions): Session {
  const { api, ask, member, nobody, words, onChange } = options
  const { reasons } = words
  const state = signal<SessionState>({ kind: 'opening' })

  function close(reason?: string): void {
    state.value = { kind: 'closed', reason }
  }

  async function look(): Promise<void> {
    try {
      await ask()
      state.value = { kind: 'open' }
    } catch (error) {
      close(codeOf(error) === nobody ? undefined : reasonOf(error))
    }
  }

  async function signIn(token: string): Promise<void> {
    try {
      await api().call('session', { method: 'POST', json: { [member]: token } })
    } catch (error) {
      close(reasonOf(error))
      return
    }
    await look()
    if (state.value.kind === 'open') onChange()
    else close(words.notKept)
  }

  function reasonOf(error: unknown): string {
    return wordOf(codeOf(error)) ?? texts.failed(messageOf(error))
  }

  function wordOf(code: string): string | undefined {
    return Object.hasOwn(reasons, code) ? reasons[code] : undefined
  }

  return {
    state,
    look,
    signIn,

    async begin(token) {
      await (token === undefined ? look() : signIn(token))
    },

    async signOut() {
      await api().call('session', { method: 'DELETE' })
      close()
      onChange()
    },

    refuse(code) {
      if (state.value.kind !== 'open') return
      close(code === 'user_suspended' ? wordOf(code) : reasons.ended)
    },
  }
}

function codeOf(error: unknown): string {
  return error instanceof ProblemError ? error.code : ''
}
