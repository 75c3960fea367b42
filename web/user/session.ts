import { type ReadonlySignal, signal } from '@preact/signals'
import { type Api, ProblemError } from '../shared/api.ts'
import { messageOf } from '../shared/message-of.ts'
import { texts } from '../texts.ts'
import type { CapacityFigures } from './capacity-figures.ts'

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  /** With a word why, where there is one to say. */
  | { readonly kind: 'closed'; readonly reason: string | undefined }

export interface Session {
  readonly state: ReadonlySignal<SessionState>
  /** Signs in with what the address or nothing says. */
  begin(accessToken: string | undefined): Promise<void>
  signIn(accessToken: string): Promise<void>
  signOut(): Promise<void>
  /** Another tab has signed in or out. */
  look(): Promise<void>
  /** The service refused the token. */
  refuse(code: string): void
}

export interface SessionOptions {
  readonly api: () => Api
  readonly capacity: () => CapacityFigures
  /** Somebody signed in, or out, here. */
  readonly onChange: () => void
}

/** Whose page this is. The token itself is in a cookie that no script can read, and nowhere else. */
export function createSession({ api, capacity, onChange }: SessionOptions): Session {
  const state = signal<SessionState>({ kind: 'opening' })

  function close(reason?: string): void {
    state.value = { kind: 'closed', reason }
  }

  async function look(): Promise<void> {
    try {
      await capacity().read()
      state.value = { kind: 'open' }
    } catch (error) {
      const isClosed = error instanceof ProblemError && error.code === 'access_token_missing'
      close(isClosed ? undefined : reasonOf(error))
    }
  }

  async function signIn(accessToken: string): Promise<void> {
    try {
      await api().call('session', { method: 'POST', json: { access_token: accessToken } })
    } catch (error) {
      close(reasonOf(error))
      return
    }
    await look()
    if (state.value.kind === 'open') onChange()
    else close(texts.signIn.notKept)
  }

  return {
    state,
    look,
    signIn,

    async begin(accessToken) {
      await (accessToken === undefined ? look() : signIn(accessToken))
    },

    async signOut() {
      await api().call('session', { method: 'DELETE' })
      close()
      onChange()
    },

    refuse(code) {
      if (state.value.kind !== 'open') return
      close(code === 'user_suspended' ? reasons.user_suspended : reasons.ended)
    },
  }
}

const { reasons } = texts.signIn

function reasonOf(error: unknown): string {
  const code = error instanceof ProblemError ? error.code : ''
  return isReason(code) ? reasons[code] : texts.failed(messageOf(error))
}

function isReason(code: string): code is keyof typeof reasons {
  return Object.hasOwn(reasons, code)
}
