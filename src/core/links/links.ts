import { randomBytes } from 'node:crypto'
import type { TokenCaller } from '../auth/access-tokens.ts'
import { type ClientAddress, parseClientAddress } from '../auth/client-address.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from '../auth/failed-attempt-limiter.ts'
import { assertPermits } from '../auth/scope.ts'
import { sha256 } from '../auth/sha256.ts'
import { assertTerms, lifeMs, type Terms } from '../auth/terms.ts'
import { AppError, invalidParameter } from '../errors.ts'
import { busy, FairSemaphore } from '../memory/fair-semaphore.ts'
import { createVersion } from '../objects/object-key.ts'
import type { AuthorizedCaller } from '../users/caller.ts'
import { type Link, type LinkKind, type LinkTarget, linkNotFound } from './link.ts'
import type { LinkLedger } from './link-ledger.ts'
import {
  createKnownPasswords,
  hashPassword,
  isKey,
  MAX_PASSWORD_LENGTH,
  unlock,
} from './link-password.ts'

export interface LinkTerms extends Terms {
  readonly kind: LinkKind
  readonly target: LinkTarget
  readonly maxUses: number | undefined
  readonly password: string | undefined
}

export interface CreatedLink extends Link {
  /** `crl_` and 43 base64url characters. Returned only here, and stored nowhere. */
  readonly secret: string
}

/** What a visitor shows for a link with a password: the password, or a key that `unlock` has returned for it. */
export interface Shown {
  readonly password: string | undefined
  readonly keys: readonly string[]
  readonly ip: string
}

/** A use of a link by somebody without an account. */
export interface Visit {
  readonly link: Link
  /** The owner, in whose account the visit acts. `reverify` rejects with `not_found` once the link has ended. */
  readonly owner: AuthorizedCaller
  /** Whether the link has no password, or the visitor has shown it. */
  readonly isUnlocked: boolean
}

export interface LinkPage {
  readonly after: string | undefined
  readonly limit: number
}

export interface Links {
  /**
   * Guarantees a new link, until it expires, is used up or revoked, or the caller's token is revoked. Rejects with
   * `scope_insufficient` unless the token may do itself what the link permits, and with `link_limit_exceeded`.
   */
  create(link: LinkTerms & { readonly caller: TokenCaller }): Promise<CreatedLink>

  /** The caller's links, oldest first; with a scoped token, only those that it has made. */
  list(caller: TokenCaller, page: LinkPage): Promise<readonly Link[]>

  /** Guarantees that every instance refuses the link. Rejects with `not_found`. */
  revoke(caller: TokenCaller, linkId: string): Promise<void>

  /**
   * Finds the link of a secret. Rejects with `not_found` if it is unknown, has expired, is used up, or its owner is not
   * active. A wrong password is a failed attempt of the address: too many get `too_many_requests`, as those of tokens.
   */
  visit(secret: string, shown: Shown): Promise<Visit>

  /** The key for a link's password. Rejects with `link_password_invalid`, and as `visit` does. */
  unlock(secret: string, shown: { readonly password: string; readonly ip: string }): Promise<string>

  /** Counts a download that begins. Rejects with `not_found` if the link has ended. */
  countDownload(visit: Visit): Promise<void>
}

export interface LinksOptions {
  readonly ledger: LinkLedger
  /** If omitted, guessing passwords is not limited. */
  readonly failedAttempts?: FailedAttemptLimiter | undefined
}

/** More would leave no thread for files. */
const PASSWORDS_AT_ONCE = 2
const MAX_WAITING = 64
const MAX_KNOWN_PASSWORDS = 10_000

const SECRET = /^crl_[A-Za-z0-9_-]{43}$/

/** Creates the use cases of links (docs/api.md). */
export function createLinks({ ledger, failedAttempts }: LinksOptions): Links {
  const turns = new FairSemaphore({
    bytes: PASSWORDS_AT_ONCE,
    reserve: { bytes: 0, largest: 0 },
  })
  const known = createKnownPasswords(MAX_KNOWN_PASSWORDS)

  async function inTurn<T>(userId: string, derive: () => Promise<T>): Promise<T> {
    if (turns.waiting >= MAX_WAITING) throw busy('Too many passwords are being checked.')
    const turn = await turns.acquire({ userId, bytes: 1 })
    try {
      return await derive()
    } finally {
      turn.release()
    }
  }

  async function find(secret: string) {
    const found = SECRET.test(secret) ? await ledger.findLink(sha256(secret)) : undefined
    if (found === undefined) throw linkNotFound()
    return found
  }

  /** `undefined` for a wrong password, which counts. */
  async function tryPassword(
    stored: string,
    { password, address }: { readonly password: string; readonly address: ClientAddress },
  ): Promise<string | undefined> {
    const blockedMs = failedAttempts?.blockedMs(address) ?? 0
    if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
    const key = await inTurn(address, () => unlock(stored, password))
    if (key === undefined) failedAttempts?.note(address)
    else known.add(stored, password)
    return key
  }

  async function isUnlocked(
    { password: stored }: Link,
    { password, keys, ip }: Shown,
  ): Promise<boolean> {
    if (stored === undefined) return true
    if (keys.some((key) => isKey(stored, key))) return true
    if (password === undefined) return false
    if (known.has(stored, password)) return true
    return (await tryPassword(stored, { password, address: parseClientAddress(ip) })) !== undefined
  }

  return {
    async create({ caller, kind, target, label, expiresInSeconds, maxUses, password }) {
      assertMayLink(caller, { kind, target })
      assertTerms({ label, expiresInSeconds })
      assertLimits({ maxUses, password })
      const { tokenId, isJwt } = await caller.inspect()
      const secret = `crl_${randomBytes(32).toString('base64url')}`
      const link = await ledger.addLink({
        userId: caller.userId,
        userCreatedAt: caller.userCreatedAt,
        linkId: createVersion(),
        sha256: sha256(secret),
        madeBy: { tokenId, isJwt },
        kind,
        target,
        label,
        password: password && (await inTurn(caller.userId, () => hashPassword(password))),
        maxUses,
        expiresInMs: lifeMs({ label, expiresInSeconds }),
      })
      return { ...link, secret }
    },

    async list(caller, page) {
      await caller.inspect()
      return await ledger.listLinks({ ...ownLinks(caller), ...page })
    },

    async revoke(caller, linkId) {
      await caller.inspect()
      await ledger.removeLink({ ...ownLinks(caller), linkId })
    },

    async visit(secret, shown) {
      const { link, owner } = await find(secret)
      const reverify = async (): Promise<void> => void (await find(secret))
      return { link, owner: { ...owner, reverify }, isUnlocked: await isUnlocked(link, shown) }
    },

    async unlock(secret, { password, ip }) {
      const { link } = await find(secret)
      if (link.password === undefined) throw wrongPassword()
      const address = parseClientAddress(ip)
      const key = await tryPassword(link.password, { password, address })
      if (key === undefined) throw wrongPassword()
      return key
    },

    async countDownload({ link: { linkId, maxUses }, owner: { userId } }) {
      if (maxUses === undefined) return
      if (!(await ledger.countUse({ userId, linkId }))) throw linkNotFound()
    },
  }
}

/** Of `ListLinks` and `NamedLink`: what the caller's token sees. */
function ownLinks({ userId, userCreatedAt, scope, tokenId }: TokenCaller) {
  return { userId, userCreatedAt, tokenId: scope && tokenId }
}

/** A link permits no more than the token that makes it. */
function assertMayLink(
  caller: TokenCaller,
  { kind, target: { name, prefix } }: Pick<LinkTerms, 'kind' | 'target'>,
): void {
  assertPermits(caller, ['share'])
  assertPermits(caller, [kind === 'drop' ? 'create' : 'read'], name ?? prefix)
}

export const MAX_USES = 2 ** 31

function assertLimits({ maxUses = 1, password = ' ' }: Partial<LinkTerms>): void {
  if (!Number.isSafeInteger(maxUses) || maxUses < 1 || maxUses > MAX_USES) {
    throw invalidParameter('max_uses', `max_uses must be an integer between 1 and ${MAX_USES}.`)
  }
  if (password === '' || password.length > MAX_PASSWORD_LENGTH || !password.isWellFormed()) {
    const detail = `password must have 1 to ${MAX_PASSWORD_LENGTH} characters.`
    throw invalidParameter('password', detail)
  }
}

function wrongPassword(): AppError {
  return new AppError('link_password_invalid', 'The password of the link is wrong.')
}
