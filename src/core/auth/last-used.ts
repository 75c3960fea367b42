import type { UserStore } from '../users/user-store.ts'

interface LastUsed {
  readonly note: (sha256: string) => void

  record(): Promise<void>
}

/** Bounds memory: further tokens are ignored until the next `record`. */
const MAX_NOTED = 50_000
const PAGE = 500

/** Collects token uses, so that `last_used_at` costs one statement for many requests and delays none. */
export function createLastUsed(users: UserStore, clock: () => number): LastUsed {
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
