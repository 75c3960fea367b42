import { type Watch, watchEvery } from '../async/watch-every.ts'
import { isAppError } from '../errors.ts'
import type { SelectedFiles } from '../files/file-ledger.ts'
import {
  type FileName,
  isFileName,
  parseFileName,
  parseFileNamePrefix,
} from '../files/file-name.ts'
import { type Link, linkNotFound } from '../links/link.ts'
import { uploadNotFound } from '../resumable/refusals.ts'
import type { ResumableUpload } from '../resumable/resumable-ledger.ts'
import { type Actor, callerOf, inactiveUser, userNotFound } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import type { UserStatus } from '../users/user-store.ts'
import type { Users } from '../users/users.ts'
import type { AccessTokenUser } from './access-token-store.ts'
import {
  type Action,
  assertCovers,
  assertMayFinish,
  assertPermits,
  coversName,
  narrowPrefix,
  permits,
  readsForUser,
  type Scope,
} from './scope.ts'

/**
 * Who acts, for which account, with which scope, and how they are verified again. Use cases take it whole; a port gets
 * what `actorOf` returns. This file decides what each kind may do, and to which files, by the rules of `scope.ts`.
 */
export type Subject = UserSubject | Visitor | Operator

interface Acting extends Actor {
  /** Required here: without it, a narrow credential would act as the account itself. */
  readonly credential: string | undefined
  /** Required as well. */
  readonly deviceId: string | undefined
  /** `undefined` permits everything. */
  readonly scope: Scope | undefined
  /**
   * Guarantees that at most 5 s ago the subject was still authorized. Rejects with `access_token_invalid` if the token
   * was revoked or the user deleted, with `user_suspended`, with `not_found` if the link has ended, or with
   * `unavailable` if this can't be determined. Does not reject if the token has only expired.
   */
  readonly reverify: () => Promise<void>
}

/** The user of an access token. */
export interface UserSubject extends Acting {
  readonly kind: 'user'
  /** Of a JWT, its SHA-256. */
  readonly tokenId: string
  /** Reads the token again. Rejects as `AccessTokens.inspect` does. */
  readonly inspect: () => Promise<AccessTokenUser>
}

/**
 * Somebody without an account, who acts by a link in the account of its owner. What they are shown of it is in
 * `http/public/links/`: `view-link.ts` and, of refusals, `visitor-problems.ts`.
 */
export interface Visitor extends Acting {
  readonly kind: 'visitor'
  readonly link: Link
}

/** An operator, who acts in the account of a user. */
export interface Operator extends Acting {
  readonly kind: 'operator'
}

/**
 * What the visitors of a link may do: read its files, or create files. So a drop never replaces a file
 * (`narrowPrecondition`), and its visitors read none (`mayRead`).
 */
export function scopeOfLink({ kind, target }: Link): Scope {
  return {
    actions: [kind === 'drop' ? 'create' : 'read'],
    prefix: target.prefix ?? parseFileNamePrefix(target.name),
    deviceId: undefined,
    whenFull: 'refuse',
  }
}

/** The statuses of the users in whose accounts operators may use each area. */
const OPEN_TO_OPERATORS = {
  files: ['active', 'suspended'],
  history: ['active'],
  links: ['active'],
  uploads: ['active', 'suspended', 'deleted'],
} as const satisfies Readonly<Record<string, readonly UserStatus[]>>

export type OperatorArea = keyof typeof OPEN_TO_OPERATORS

/**
 * The operator in the account of this user. Rejects with `not_found` for an unknown or deleted user, and with
 * `user_suspended`, unless operators do this in such an account too.
 */
export async function operatorIn(
  users: Pick<Users, 'find'>,
  userId: UserId,
  area: OperatorArea,
): Promise<Operator> {
  const { user } = await users.find(userId)
  const { status } = user
  const open: readonly UserStatus[] = OPEN_TO_OPERATORS[area]
  if (!open.includes(status)) {
    throw status === 'deleted' ? userNotFound(userId) : inactiveUser(status)
  }
  return {
    kind: 'operator',
    ...callerOf(user),
    credential: undefined,
    deviceId: undefined,
    scope: undefined,
    reverify: async () => undefined,
  }
}

/** Throws unless the subject may do one of these: `scope_insufficient`, or `not_found` for a link of the other kind. */
export function assertMay(subject: Subject, anyOf: readonly Action[]): void {
  if (subject.kind !== 'visitor') assertPermits(subject, anyOf)
  else if (!anyOf.some((action) => permits(subject, action))) throw linkNotFound()
}

/**
 * The name of the file that the subject calls `shown`. Throws `scope_insufficient` for a name outside the scope's prefix;
 * for a visitor, `not_found` if a download link is for other files, and `invalid_file_name` if a new name is too long
 * with the prefix of the link.
 */
export function nameFor(subject: Subject, shown: FileName): FileName {
  if (subject.kind !== 'visitor') {
    assertCovers(subject, shown)
    return shown
  }
  const { kind, target } = subject.link
  const name = target.name ?? target.prefix + shown
  if (target.name !== undefined && target.name !== shown) throw linkNotFound()
  if (kind === 'download' && !isFileName(name)) throw linkNotFound()
  return parseFileName(name)
}

/**
 * The name under which the subject sees a file: for a visitor without the prefix of the link. `undefined` outside the
 * scope's prefix, or if the rest is no file name.
 */
export function shownName(subject: Subject, name: FileName): FileName | undefined {
  if (subject.kind !== 'visitor') return coversName(subject, name) ? name : undefined
  const { target } = subject.link
  if (target.name !== undefined) return target.name
  const rest = name.slice(target.prefix.length)
  return isFileName(rest) ? rest : undefined
}

/** The part of these files that the subject sees. Throws `scope_insufficient` for names outside the scope's prefix. */
export function narrowSelection(subject: Subject, asked: SelectedFiles): SelectedFiles {
  if (asked.names === undefined) return { prefix: narrowPrefix(subject, asked.prefix) }
  for (const name of asked.names) assertCovers(subject, name)
  return asked
}

/**
 * Throws unless the subject may continue this upload, which another token of the user may have created: `not_found`
 * outside the scope's prefix, else as `assertMayFinish` does. The name, precondition, visibility and what the upload
 * evicts do not change, so the commit need not ask again. Of a link, the ledger finds its own uploads only (`linkIdOf`).
 */
export function assertMayContinue(subject: Subject, upload: ResumableUpload): void {
  if (!coversName(subject, upload.name)) throw uploadNotFound()
  if (upload.state !== 'finished') assertMayFinish(subject, upload)
}

/** Who reads files of this owner: a token for a part of another account counts as none. */
export function viewerFor(subject: UserSubject, owner: UserId): UserSubject | undefined {
  return subject.userId === owner || readsForUser(subject) ? subject : undefined
}

/** The link by which the subject acts: its uses count, and its uploads are seen by no other link. */
export function linkIdOf(subject: Subject): string | undefined {
  return subject.kind === 'visitor' ? subject.link.linkId : undefined
}

/** What a subject is to a port, which may run on another thread: plain data. */
export function actorOf({ userId, userCreatedAt, credential, deviceId }: Actor): Actor {
  return { userId, userCreatedAt, credential, deviceId }
}

/** Reverifies a subject every `everyMs` until disposed. Access that can't be verified counts as kept. */
export function watchAccess({ reverify }: Subject, everyMs: number): Watch {
  return watchEvery(everyMs, () => accessRefusal(reverify))
}

/** Why the subject is no longer authorized; `undefined` if they are, or if this can't be determined. */
export async function accessRefusal(reverify: Subject['reverify']): Promise<unknown> {
  try {
    await reverify()
    return undefined
  } catch (error) {
    return isAppError(error, 'unavailable') ? undefined : error
  }
}
