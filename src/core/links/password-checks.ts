import { createHmac, randomBytes } from 'node:crypto'
import type { ClientAddress } from '../auth/client-address.ts'
import { FairSemaphore } from '../async/fair-semaphore.ts'
import { BoundedMap } from '../bounded-map.ts'
import { tooManyRequests } from '../errors.ts'
import { deriveKey, hashPassword, isKey, isPassword } from './link-password.ts'

/** What a visitor shows for a link with a password. */
export interface VisitorCredentials {
  readonly password: string | undefined
  /** Of cookies: one of them may be the key of the password. */
  readonly keys: readonly string[]
  readonly address: ClientAddress
  readonly signal: AbortSignal
}

/** More would leave no thread for files. */
const AT_ONCE = 2

/** Of one address or account. Others take turns with it. */
const MAX_WAITING = 4

const MAX_KNOWN = 10_000

/** Checks passwords a few at a time: each takes a thread 0.1 s. */
export function createPasswordChecks(clock?: () => number) {
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

  async function keyFor(
    hash: string,
    { password = '', address, signal }: VisitorCredentials,
  ): Promise<string | undefined> {
    const tried = { link: hash, address }
    // Also before a known password: otherwise it could be guessed fast during a block.
    guesses.assertMayTry(tried)
    const known = keys.get(hash, password)
    if (known !== undefined) return known
    const key = await inTurn({ id: address, signal }, async () => {
      // Attempts that waited for their turn together count before the next one.
      guesses.beginTry(tried)
      const found = isPassword(password) ? await deriveKey(hash, password) : undefined
      if (found !== undefined) guesses.giveBack(tried)
      return found
    })
    if (key !== undefined) keys.add(hash, password, key)
    return key
  }

  return {
    /** Resolves to the stored form of a new password. Rejects with `too_many_requests`. */
    hash: (password: string, owner: { readonly id: string; readonly signal: AbortSignal }) =>
      inTurn(owner, () => hashPassword(password)),
    /** The key of the right password, else `undefined`. Counts and rejects as `areRight` does. */
    keyFor,
    /**
     * Whether the credentials are right. A wrong password counts as a try of the link (`GuessLimiter`). Rejects with
     * `too_many_requests` for a link that was tried too often, unless the visitor shows a key, which cannot be guessed.
     */
    async areRight(hash: string, credentials: VisitorCredentials): Promise<boolean> {
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
  const known = new BoundedMap<string, string>(MAX_KNOWN)
  const entryOf = (hash: string, password: string): string =>
    createHmac('sha256', secret).update(`${hash}:${password}`).digest('base64url')
  return {
    get: (hash: string, password: string) => known.get(entryOf(hash, password)),
    add: (hash: string, password: string, key: string) => known.set(entryOf(hash, password), key),
  }
}

/**
 * Bounds how often the password of each link is tried on this instance. A right password is given back, and so neither
 * counts nor makes room for wrong ones. No I/O.
 */
export type GuessLimiter = ReturnType<typeof createGuessLimiter>

interface Tried {
  readonly link: string
  readonly address: ClientAddress
}

/** One address cannot use up what all have: it has fewer at once, and gets no more than comes back. */
export function createGuessLimiter(clock: () => number = () => performance.now()) {
  const ofAddress = createTries({ max: 20, everyMs: 10_000, clock })
  const ofAll = createTries({ max: 100, everyMs: 10_000, clock })
  const ofBoth = (tried: Tried, apply: (tries: Tries, key: string) => void): void => {
    apply(ofAddress, `${tried.link} ${tried.address}`)
    apply(ofAll, tried.link)
  }
  const assertMayTry = (tried: Tried): void => {
    ofBoth(tried, (tries, key) => tries.assertMayTry(key))
  }
  return {
    /** Throws `too_many_requests` if no try may begin. */
    assertMayTry,
    /** As `assertMayTry`, and counts a try. */
    beginTry(tried: Tried): void {
      assertMayTry(tried)
      ofBoth(tried, (tries, key) => tries.begin(key))
    },
    /** Takes back a try, which was right. */
    giveBack: (tried: Tried) => ofBoth(tried, (tries, key) => tries.giveBack(key)),
  }
}

interface TriesOptions {
  /** That are made at once. */
  readonly max: number
  /** How long until another one comes back. */
  readonly everyMs: number
  readonly clock: () => number
}

type Tries = ReturnType<typeof createTries>

/** Beyond it, what was tried longest ago is forgotten. */
const MAX_KEYS = 10_000

/** A token bucket for each key that was tried lately. */
function createTries({ max, everyMs, clock }: TriesOptions) {
  /** When all tries are there again. */
  const fullAt = new BoundedMap<string, number>(MAX_KEYS)

  function waitMs(key: string): number {
    return (fullAt.get(key) ?? 0) - clock() - (max - 1) * everyMs
  }

  function assertMayTry(key: string): void {
    const ms = waitMs(key)
    if (ms > 0) throw tooManyRequests('Too many passwords of this link have been tried.', ms)
  }

  return {
    assertMayTry,

    begin(key: string): void {
      fullAt.set(key, Math.max(clock(), fullAt.get(key) ?? 0) + everyMs)
    },

    giveBack(key: string): void {
      const at = (fullAt.get(key) ?? 0) - everyMs
      if (at > clock()) fullAt.set(key, at)
      else fullAt.delete(key)
    },
  }
}
