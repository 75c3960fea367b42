import { createHmac, randomBytes } from 'node:crypto'
import type { ClientAddress } from '../auth/client-address.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from '../auth/failed-attempt-limiter.ts'
import { FairSemaphore } from '../async/fair-semaphore.ts'
import { tooManyRequests } from '../errors.ts'
import { createGuessLimiter } from './guess-limiter.ts'
import { deriveKey, hashPassword, isKey, isPassword } from './link-password.ts'

/** What a visitor shows for a link with a password. */
export interface VisitorCredentials {
  readonly password: string | undefined
  /** Of cookies: one of them may be the key of the password. */
  readonly keys: readonly string[]
  readonly address: ClientAddress
  readonly signal: AbortSignal
}

/** Checks passwords a few at a time: each takes a thread 0.1 s. */
export interface PasswordChecks {
  /** Resolves to the stored form of a new password. Rejects with `too_many_requests`. */
  hash(
    password: string,
    owner: { readonly id: string; readonly signal: AbortSignal },
  ): Promise<string>

  /**
   * Whether the credentials are right. A wrong password counts as a failed attempt of the address, together with wrong
   * tokens, and as a try of the link (`GuessLimiter`). Rejects with `too_many_requests` for a blocked address and for a
   * link that was tried too often, unless the visitor shows a key, which cannot be guessed.
   */
  areRight(hash: string, credentials: VisitorCredentials): Promise<boolean>

  /** The key of the right password, else `undefined`. Counts and rejects as `areRight` does. */
  keyFor(hash: string, credentials: VisitorCredentials): Promise<string | undefined>
}

/** More would leave no thread for files. */
const AT_ONCE = 2

/** Of one address or account. Others take turns with it. */
const MAX_WAITING = 4

const MAX_KNOWN = 10_000

/** If `failedAttempts` is omitted, addresses are not limited. */
export function createPasswordChecks(
  failedAttempts?: FailedAttemptLimiter,
  clock?: () => number,
): PasswordChecks {
  const guesses = createGuessLimiter(clock)
  const turns = new FairSemaphore({ permits: AT_ONCE })
  const keys = createKnownKeys()

  async function inTurn<T>(
    { id: owner, signal }: { readonly id: string; readonly signal: AbortSignal },
    derive: () => Promise<T>,
  ): Promise<T> {
    if (turns.waitingOf(owner) >= MAX_WAITING) throw tooManyRequests(TOO_MANY, 1_000)
    return await turns.run({ owner, signal }, derive)
  }

  function assertNotBlocked(address: ClientAddress): void {
    const blockedMs = failedAttempts?.blockedMs(address) ?? 0
    if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
  }

  async function keyFor(
    hash: string,
    { password = '', address, signal }: VisitorCredentials,
  ): Promise<string | undefined> {
    // Also before a known password: otherwise it could be guessed fast during a block.
    const tried = { link: hash, address }
    assertNotBlocked(address)
    guesses.assertMayTry(tried)
    const known = keys.get(hash, password)
    if (known !== undefined) return known
    const key = await inTurn({ id: address, signal }, async () => {
      // Attempts that waited for their turn together count before the next one.
      assertNotBlocked(address)
      guesses.beginTry(tried)
      const found = isPassword(password) ? await deriveKey(hash, password) : undefined
      if (found === undefined) failedAttempts?.note(address)
      else guesses.giveBack(tried)
      return found
    })
    if (key !== undefined) keys.add({ hash, password, key })
    return key
  }

  return {
    hash: (password, owner) => inTurn(owner, () => hashPassword(password)),
    keyFor,
    async areRight(hash, credentials) {
      if (credentials.keys.some((key) => isKey(hash, key))) return true
      if (credentials.password === undefined) return false
      return (await keyFor(hash, credentials)) !== undefined
    },
  }
}

const TOO_MANY = 'Too many passwords from this address or account are waiting to be checked.'

/** The keys of passwords that were right, found by a digest that is worthless outside this process. */
function createKnownKeys() {
  const secret = randomBytes(32)
  const known = new Map<string, string>()
  const entryOf = (hash: string, password: string): string =>
    createHmac('sha256', secret).update(`${hash}:${password}`).digest('base64url')
  return {
    get: (hash: string, password: string) => known.get(entryOf(hash, password)),
    add({
      hash,
      password,
      key,
    }: {
      readonly hash: string
      readonly password: string
      readonly key: string
    }): void {
      known.set(entryOf(hash, password), key)
      const [oldest] = known.keys()
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
    },
  }
}
