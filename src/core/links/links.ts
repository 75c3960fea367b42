import { randomBytes } from 'node:crypto'
import { makerOf } from '../auth/access-tokens.ts'
import { assertPermits } from '../auth/scope.ts'
import { sha256 } from '../auth/sha256.ts'
import {
  actorOf,
  type Operator,
  scopeOfLink,
  type UserSubject,
  type Visitor,
} from '../auth/subject.ts'
import { assertLabel, assertLife, assertTerms, lifeMs, type Terms } from '../auth/terms.ts'
import { AppError, invalidParameter, tooManyRequests } from '../errors.ts'
import { isFileName } from '../files/file-name.ts'
import { createVersion } from '../objects/object-key.ts'
import { type AskedLimits, assertReceives, limitsWithin } from './drop-limits.ts'
import {
  assertMoreDrops,
  type DropLimits,
  type Link,
  type LinkKind,
  type LinkTarget,
  linkNotFound,
  type Uses,
  usesOf,
  usesUnsent,
} from './link.ts'
import type { LinkLedger } from './link-ledger.ts'
import { isPassword, MAX_PASSWORD_LENGTH } from './link-password.ts'
import { createPasswordChecks, type VisitorCredentials } from './password-checks.ts'

export interface LinkTerms extends Terms {
  readonly kind: LinkKind
  readonly target: LinkTarget
  readonly maxUses: number | undefined
  readonly password: string | undefined
  /** Of a drop link. */
  readonly limits: AskedLimits
}

export interface CreateLink extends LinkTerms {
  readonly subject: UserSubject
  readonly signal: AbortSignal
}

/** The changes of a link. `undefined` keeps a member. `null` removes its password or limit. */
export interface LinkChanges {
  readonly label?: string | undefined
  readonly expiresAt?: number | null | undefined
  readonly maxUses?: number | null | undefined
  readonly password?: string | null | undefined
  readonly limits?: AskedLimits | undefined
}

export interface ChangeLink extends LinkChanges {
  readonly subject: LinkKeeper
  readonly linkId: string
  readonly signal: AbortSignal
}

/** With its new secret. */
export interface CreatedLink extends Link {
  /** `crl_` and 43 base64url characters. Returned only here, and stored nowhere. */
  readonly secret: string
}

interface FindLink {
  readonly evenUsedUp: boolean
}

export interface LinkPage {
  readonly after: string | undefined
  readonly limit: number
}

export type Links = ReturnType<typeof createLinks>

const SECRET = /^crl_[A-Za-z0-9_-]{43}$/

/** Creates the use cases of links (docs/api.md). */
export function createLinks(options: {
  readonly ledger: LinkLedger
  /** How long a link may live at most; without it, as long as its owner says. */
  readonly maxLifeMs?: number | undefined
  /** The default and the maximum of how much a drop link receives; without it, only links that ask have limits. */
  readonly dropLimits?: DropLimits | undefined
  /** The clock of the limits on password attempts, in milliseconds; that of the process by default. */
  readonly passwordClock?: (() => number) | undefined
}) {
  const { ledger, maxLifeMs, dropLimits: permitted = NO_LIMITS } = options
  const passwords = createPasswordChecks(options.passwordClock)
  const running = new Map<string, number>()

  async function find(secret: string, options?: FindLink): Promise<Visitor> {
    const found = SECRET.test(secret) ? await ledger.findLink(sha256(secret), options) : undefined
    if (found === undefined) throw linkNotFound()
    const reverify = async (): Promise<void> => void (await find(secret, options))
    const { link, owner, credential, deviceId } = found
    const scope = scopeOfLink(link)
    return { kind: 'visitor', ...owner, credential, deviceId, scope, link, reverify }
  }

  async function count({ link: { linkId }, userId }: Visitor, uses: Uses): Promise<void> {
    if (!(await ledger.countUses({ userId, linkId }, uses))) throw linkNotFound()
  }

  function addRunning({ link, userId }: Visitor, drops: number): void {
    for (const id of [link.linkId, userId]) {
      const sum = (running.get(id) ?? 0) + drops
      if (sum === 0) running.delete(id)
      else running.set(id, sum)
    }
  }

  /** Rejects unless what visitors may leave behind is within bounds. */
  async function assertGarbageBounded({ userId }: Visitor): Promise<void> {
    if (await ledger.permitsDrops(userId)) return
    throw tooManyRequests(
      'Files that were sent or deleted lately still take up too much space.',
      GARBAGE_WAIT_MS,
    )
  }

  return {
    /**
     * Who visits the link of a secret. Rejects with `not_found` if it is unknown or has expired, if its owner is not
     * active, and, without `evenUsedUp`, if it is used up.
     */
    find,

    /**
     * Creates a link that works until it expires, is used up or is revoked. It is revoked with the subject's token, and
     * expires with it as `LinkLedger.addLink` says. Rejects with `scope_insufficient` unless the token itself permits
     * what the link permits, with `invalid_parameter` for a longer life than `maxLifeMs`, and with
     * `link_count_exceeded`.
     */
    async create({ subject, signal, ...terms }: CreateLink): Promise<CreatedLink> {
      const { kind, target, label, maxUses, password } = terms
      assertMayLink(subject, terms)
      assertTerms(terms)
      assertLife(terms, maxLifeMs)
      assertLimits(terms)
      assertReceives(terms, terms.limits)
      const limits = kind === 'drop' ? limitsWithin(terms.limits, permitted) : NO_LIMITS
      const token = await subject.inspect()
      const { userId } = subject
      const passwordHash = password && (await passwords.hash(password, { id: userId, signal }))
      const secret = createSecret()
      const link = await ledger.addLink({
        ...actorOf(subject),
        linkId: createVersion(),
        sha256: sha256(secret),
        createdBy: {
          ...makerOf(token),
          deviceId: token.scope?.deviceId,
        },
        terms: { kind, target, label, maxUses, passwordHash, ...limits },
        askedMs: lifeMs(terms),
        maxLifeMs,
      })
      return { ...link, secret }
    },

    /** The account's links, oldest first, with those that have ended; with a scoped token, only those that it has made. */
    async list(subject: LinkKeeper, page: LinkPage): Promise<readonly Link[]> {
      await inspected(subject)
      return await ledger.listLinks({ ...seenLinks(subject), after: page.after, limit: page.limit })
    },

    /**
     * Changes a link that `list` shows the subject. A new password ends what the old one has opened. Rejects with
     * `not_found`, `too_many_requests` (for passwords), and as `LinkLedger.updateLink` and `create` do.
     */
    async update({ subject, linkId, signal, ...changes }: ChangeLink): Promise<Link> {
      const { label, expiresAt, maxUses, password, limits } = changes
      if (label !== undefined) assertLabel(label)
      assertMaxUses(maxUses ?? undefined)
      assertPassword(password ?? undefined)
      await inspected(subject)
      const passwordHash =
        password && (await passwords.hash(password, { id: subject.userId, signal }))
      const named = { ...seenLinks(subject), linkId }
      const changed = { label, expiresAt, maxUses, passwordHash, limits }
      return await ledger.updateLink({ ...named, ...changed, maxLifeMs, permitted })
    },

    /**
     * Gives a link that `list` shows the subject a new secret. Every instance refuses the old one. Unfinished uploads
     * continue with the new one. Rejects with `not_found`.
     */
    async renewSecret(subject: LinkKeeper, linkId: string): Promise<CreatedLink> {
      await inspected(subject)
      const secret = createSecret()
      const named = { ...seenLinks(subject), linkId }
      const link = await ledger.updateLink({ ...named, sha256: sha256(secret), permitted })
      return { ...link, secret }
    },

    /** Guarantees that every instance refuses the link. Rejects with `not_found`. */
    async revoke(subject: LinkKeeper, linkId: string): Promise<void> {
      await inspected(subject)
      await ledger.removeLink({ ...seenLinks(subject), linkId })
    },

    /** Whether the link has no password, or the visitor has shown it. See `areRight` of `createPasswordChecks`. */
    isUnlocked: async ({ passwordHash }: Link, credentials: VisitorCredentials) =>
      passwordHash === undefined || (await passwords.areRight(passwordHash, credentials)),

    /** The key of a link's password. Rejects with `link_password_invalid`, and as `isUnlocked` does. */
    async unlock({ passwordHash }: Link, credentials: VisitorCredentials): Promise<string> {
      const key = passwordHash && (await passwords.keyFor(passwordHash, credentials))
      if (key !== undefined) return key
      throw new AppError('link_password_invalid', 'The password of the link is wrong.')
    },

    /**
     * Counts bytes of a file before they are sent, as `usesOf` says. Rejects with `not_found` if the link has fewer
     * uses left. The returned function takes back what was not sent; `undefined` for a link that counts nothing.
     */
    async countDownload(
      visitor: Visitor,
      { bytes, size }: { readonly bytes: number; readonly size: number },
    ): Promise<((sent: number) => Promise<void>) | undefined> {
      const { link, userId } = visitor
      if (link.maxUses === undefined) return undefined
      await count(visitor, usesOf(bytes, size))
      const { linkId } = link
      return (sent) => ledger.returnUses({ userId, linkId }, usesUnsent(bytes - sent, size))
    },

    /** Counts one use for each file of an archive that begins. Rejects as `countDownload` does. */
    async countArchive(visitor: Visitor, files: number): Promise<void> {
      if (visitor.link.maxUses !== undefined) await count(visitor, { whole: files, fraction: 0 })
    },

    /**
     * Admits a drop, until the returned value is disposed. Rejects with `too_many_requests` if so many run on this
     * instance that visitors could use up what the owner may upload at the same time, and as `admitAppend` does.
     */
    async beginDrop(visitor: Visitor): Promise<Disposable> {
      const { link, userId } = visitor
      const ofLink = running.get(link.linkId) ?? 0
      const ofAll = running.get(userId) ?? 0
      assertMoreDrops(link, { ofLink, ofAll })
      // Counted before the ledger is asked, so that drops that begin meanwhile see it.
      using drop = new DisposableStack()
      addRunning(visitor, 1)
      drop.defer(() => addRunning(visitor, -1))
      await assertGarbageBounded(visitor)
      return drop.move()
    },

    /**
     * Admits an append to an unfinished drop. Rejects with `too_many_requests` if so much garbage is left that what
     * visitors break off could stop the owner's uploads.
     */
    admitAppend: assertGarbageBounded,
  }
}

const GARBAGE_WAIT_MS = 60_000

const NO_LIMITS: DropLimits = { maxBytes: undefined, maxFiles: undefined }

function createSecret(): string {
  return `crl_${randomBytes(32).toString('base64url')}`
}

/** Who lists, changes and revokes links. */
type LinkKeeper = UserSubject | Operator

async function inspected(subject: LinkKeeper): Promise<void> {
  if (subject.kind === 'user') await subject.inspect()
}

/** Of `ListLinks` and `NamedLink`: what the subject sees. */
function seenLinks(subject: LinkKeeper) {
  const isScoped = subject.kind === 'user' && subject.scope !== undefined
  return { ...actorOf(subject), tokenId: isScoped ? subject.tokenId : undefined }
}

/** A link permits no more than the token that makes it. */
function assertMayLink(subject: UserSubject, terms: LinkTerms): void {
  const { kind, target } = terms
  const { name, prefix } = target
  assertPermits(subject, ['share'])
  assertPermits(subject, [kind === 'drop' ? 'create' : 'read'], name ?? prefix)
}

/** Of `max_uses`. */
export const MAX_USES = 2 ** 31

function assertLimits({ kind, target, maxUses, password }: LinkTerms): void {
  assertMaxUses(maxUses)
  assertPassword(password)
  if (kind === 'drop' && !isFileName(`${target.prefix}-`)) {
    throw invalidParameter('prefix', 'prefix leaves no room for a file name.')
  }
}

function assertMaxUses(maxUses = 1): void {
  if (Number.isSafeInteger(maxUses) && maxUses >= 1 && maxUses <= MAX_USES) return
  throw invalidParameter('max_uses', `max_uses must be an integer between 1 and ${MAX_USES}.`)
}

function assertPassword(password = '-'): void {
  if (isPassword(password)) return
  throw invalidParameter(
    'password',
    `password must have 1 to ${MAX_PASSWORD_LENGTH} characters, without control characters.`,
  )
}
