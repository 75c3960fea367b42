import type { UserStore } from '../users/user-store.ts'

export interface LastUsed {
  /** Notes that the token was used now. Costs no input or output. */
  note(sha256: string): void

  /**
   * Writes the last use of every token that was noted since the last call. Rejects with `unavailable` when the database
   * fails; what was not written then is forgotten, which costs a time stamp and nothing else.
   */
  record(): Promise<void>
}

export interface LastUsedOptions {
  readonly users: UserStore
  /** Milliseconds from any beginning, never going back. */
  readonly clock: () => number
}

/** Tokens beyond it are not noted until the next `record`, so that memory is bounded. */
const MAX_NOTED = 50_000
const PAGE = 500

/** Collects when tokens were used, so that `last_used_at` costs one statement for many requests and delays none. */
export function createLastUsed({ users, clock }: LastUsedOptions): LastUsed {
  let usedAt = new Map<string, number>()
  return {
    note(sha256) {
      if (usedAt.size < MAX_NOTED || usedAt.has(sha256)) usedAt.set(sha256, clock())
    },

    async record() {
      const noted = [...usedAt]
      usedAt = new Map()
      for (let from = 0; from < noted.length; from += PAGE) {
        const now = clock()
        const page = noted.slice(from, from + PAGE)
        await users.recordAccessTokenUses(
          page.map(([sha256, at]) => ({ sha256, agoMs: Math.max(0, Math.round(now - at)) })),
        )
      }
    },
  }
}
