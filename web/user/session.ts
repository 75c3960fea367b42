import { computed, type ReadonlySignal, signal } from '@preact/signals'
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
  /** Whether there is a link that wants to sign somebody in, and has to be asked about. */
  readonly hasLink: ReadonlySignal<boolean>
  /**
   * Finds out whose page this is. A link's token signs in at once where the program itself prints such links and nobody is
   * signed in. Else it could make somebody give files to whoever made the link, so it waits for `followLink`.
   */
  begin(accessToken: string | undefined): Promise<void>
  followLink(): Promise<void>
  dismissLink(): void
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
  /** Whether links sign in at once. */
  readonly trustsLinks: boolean
  /** Before somebody signs in here: resolves when nothing is sent any more for whoever it was before. */
  readonly onChanging: () => Promise<void>
  /** Somebody signed in or out here, or tried to. */
  readonly onChange: () => void
  /** The token of a link was refused, and whoever was signed in still is. */
  readonly onRefused: (reason: string) => void
}

/** Whose page this is. The token itself is in a cookie that no script can read, and nowhere else. */
export function createSession(options: SessionOptions): Session {
  const { api, capacity, trustsLinks, onChanging, onChange, onRefused } = options
  const state = signal<SessionState>({ kind: 'opening' })
  const link = signal<string | undefined>(undefined)

  function close(reason?: string): void {
    state.value = { kind: 'closed', reason }
  }

  async function find(): Promise<SessionState> {
    try {
      await capacity().read()
      return { kind: 'open' }
    } catch (error) {
      const isClosed = error instanceof ProblemError && error.code === 'access_token_missing'
      return { kind: 'closed', reason: isClosed ? undefined : reasonOf(error) }
    }
  }

  async function look(): Promise<void> {
    state.value = await find()
  }

  async function signIn(accessToken: string): Promise<void> {
    const wasOpen = state.value.kind === 'open'
    await onChanging()
    try {
      await api().call('session', { method: 'POST', json: { access_token: accessToken } })
      await look()
      if (state.value.kind === 'closed') close(texts.signIn.notKept)
    } catch (error) {
      if (wasOpen) {
        await look()
        onRefused(reasonOf(error))
      } else close(reasonOf(error))
    }
    onChange()
  }

  return {
    state,
    look,
    signIn,

    hasLink: computed(() => link.value !== undefined),

    async begin(accessToken) {
      const found = await find()
      if (accessToken !== undefined && trustsLinks && found.kind === 'closed') {
        await signIn(accessToken)
        return
      }
      state.value = found
      link.value = accessToken
    },

    async followLink() {
      const accessToken = link.value
      if (accessToken !== undefined) await signIn(accessToken)
      link.value = undefined
    },

    dismissLink() {
      link.value = undefined
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
