import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { texts } from '../messages.ts'
import { type Api, ProblemError, TWO_TOKENS } from './api.ts'
import { messageOf } from './error-message.ts'

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  /** With a word why, where there is one to say, and whether signing out takes away what stands in the way. */
  | {
      readonly kind: 'closed'
      readonly reason: string | undefined
      readonly hasLeftovers?: boolean
    }

export interface Session {
  readonly state: ReadonlySignal<SessionState>
  /** Whether there is a link that wants to sign somebody in, and has to be asked about. */
  readonly hasLink: ReadonlySignal<boolean>
  /**
   * Finds out whose page this is. A link's token signs in at once where the program itself prints such links and nobody is
   * signed in. Else it could make somebody give files to whoever made the link, so it waits for `followLink`.
   */
  begin(token: string | undefined): Promise<void>
  followLink(): Promise<void>
  dismissLink(): void
  signIn(token: string): Promise<void>
  signOut(): Promise<void>
  /** Another tab has signed in or out. */
  look(): Promise<void>
  /** The service refused the token, for a reason as `ProblemError` has it. */
  refuse(reason: string): void
}

export interface SessionOptions {
  readonly api: () => Api
  /** Asks for something that only whoever is signed in gets. */
  readonly ask: () => Promise<unknown>
  /** What the service calls the token. */
  readonly member: 'access_token' | 'admin_token'
  /** The code of what it refuses while nobody is signed in. */
  readonly nobody: string
  /** `reasons` by the codes of refusals, and of a session that has `ended`; `notKept` of a cookie that the browser refused. */
  readonly words: {
    readonly notKept: string
    readonly reasons: Readonly<Record<string, string> & { ended: string }>
  }
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
  const { api, ask, member, nobody, words, trustsLinks, onChanging, onChange, onRefused } = options
  const { reasons } = words
  const state = signal<SessionState>({ kind: 'opening' })
  const link = signal<string | undefined>(undefined)

  function close(reason?: string): void {
    state.value = { kind: 'closed', reason }
  }

  function closedFor(error: unknown): SessionState {
    const code = codeOf(error)
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

  async function look(): Promise<void> {
    state.value = await find()
  }

  async function signIn(token: string): Promise<void> {
    const wasOpen = state.value.kind === 'open'
    await onChanging()
    try {
      await api().call('session', { method: 'POST', json: { [member]: token } })
      await look()
      if (state.value.kind === 'closed' && state.value.hasLeftovers !== true) close(words.notKept)
    } catch (error) {
      if (wasOpen) {
        await look()
        onRefused(reasonOf(error))
      } else close(reasonOf(error))
    }
    onChange()
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

    hasLink: computed(() => link.value !== undefined),

    async begin(token) {
      const found = await find()
      if (token !== undefined && trustsLinks && found.kind === 'closed') {
        await signIn(token)
        return
      }
      state.value = found
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
      await api().call('session', { method: 'DELETE' })
      close()
      onChange()
    },

    refuse(reason) {
      if (state.value.kind !== 'open') return
      const hasLeftovers = reason === TWO_TOKENS
      const isTold = hasLeftovers || reason === 'user_suspended'
      state.value = {
        kind: 'closed',
        reason: isTold ? wordOf(reason) : reasons.ended,
        hasLeftovers,
      }
    },
  }
}

function codeOf(error: unknown): string {
  return error instanceof ProblemError ? error.reason : ''
}
