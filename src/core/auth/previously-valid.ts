import type { AccessTokenUser } from '../users/user-store.ts'

/** Tokens that were good the last time they were looked up, by their SHA-256. It holds nothing else of them. */
export interface PreviouslyValidTokens {
  has(sha256: string): boolean
  /** Hands on what a lookup has found, and remembers it. One that fails says nothing about the token. */
  learn(
    sha256: string,
    look: Promise<AccessTokenUser | undefined>,
  ): Promise<AccessTokenUser | undefined>
}

/** Beyond it those looked up longest ago are strangers again. */
const MAX_KNOWN = 50_000

export function createPreviouslyValidTokens(): PreviouslyValidTokens {
  const hashes = new Set<string>()
  return {
    has: (sha256) => hashes.has(sha256),
    async learn(sha256, look) {
      const found = await look
      hashes.delete(sha256)
      if (found !== undefined) hashes.add(sha256)
      const [oldest] = hashes
      if (hashes.size > MAX_KNOWN && oldest !== undefined) hashes.delete(oldest)
      return found
    },
  }
}
