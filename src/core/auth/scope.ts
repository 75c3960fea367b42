import { AppError, invalidParameter, isAppError } from '../errors.ts'
import {
  EVERY_NAME,
  type FileName,
  type FileNamePrefix,
  parseFileNamePrefix,
} from '../files/file-name.ts'
import type { Visibility } from '../files/file.ts'
import type { Precondition } from '../files/precondition.ts'
import { isReference } from '../quota/grants.ts'

/**
 * What a token may permit (docs/api.md has the table). Types, schemas and refusals follow from this list; a scope that is
 * stored keeps the actions that it got.
 */
export const ACTIONS = ['read', 'create', 'replace', 'delete', 'history', 'share'] as const

export type Action = (typeof ACTIONS)[number]

/** What a token permits; `undefined` in its place permits everything. */
export interface Scope {
  /** In the order of `ACTIONS`; none in `NOTHING` alone. */
  readonly actions: readonly Action[]
  /** Of file names; empty for all. */
  readonly prefix: FileNamePrefix
  /** The device that the token belongs to: without the device, the token is invalid. */
  readonly deviceId: string | undefined
  /** What an upload does that does not fit: it is refused, or evicts files with the prefix. */
  readonly whenFull: WhenFull
}

export const WHEN_FULL = ['refuse', 'evict_oldest'] as const

export type WhenFull = (typeof WHEN_FULL)[number]

/** The scope of a request's token. */
export interface Scoped {
  readonly scope: Scope | undefined
}

export function permits({ scope }: Scoped, action: Action): boolean {
  return scope === undefined || scope.actions.includes(action)
}

/**
 * Throws `scope_insufficient`, which names the first action, unless the scope has one of them; then, if a name or the
 * prefix of names is given, unless it begins with the scope's prefix.
 */
export function assertPermits(
  scoped: Scoped,
  anyOf: readonly Action[],
  name?: FileName | FileNamePrefix,
): void {
  const [first = 'read'] = anyOf
  if (!anyOf.some((action) => permits(scoped, action))) throw insufficient(first)
  if (name !== undefined) assertCovers(scoped, name)
}

/** Throws `scope_insufficient` for a name outside the scope's prefix. */
export function assertCovers(scoped: Scoped, name: FileName | FileNamePrefix): void {
  if (!coversName(scoped, name)) throw insufficient('prefix')
}

export function coversName({ scope }: Scoped, name: string): boolean {
  return scope === undefined || name.startsWith(scope.prefix)
}

/**
 * Whether the token may read a file of its user. Answers tell a token that may not only what it has sent itself, and
 * whether there is such a file.
 */
export function mayRead(scoped: Scoped, name: string): boolean {
  return permits(scoped, 'read') && coversName(scoped, name)
}

/**
 * Whether the token speaks for its user beyond the part of the account that it is for: it then reads what other users
 * share with all users, and all grants of the account. Other tokens count as none there.
 */
export function readsForUser(scoped: Scoped): boolean {
  const { scope } = scoped
  return permits(scoped, 'read') && !hasPrefix(scoped) && scope?.deviceId === undefined
}

/**
 * Throws `scope_insufficient`: sharing a file with others needs what a download link needs, making it private `share`.
 */
export function assertMaySetVisibility(scoped: Scoped, visibility: Visibility): void {
  assertPermits(scoped, ['share'])
  if (visibility !== 'private') assertPermits(scoped, ['read'])
}

/** Throws `scope_insufficient` for a condition that would tell a token without `read` when the file was last written. */
export function assertMayCompare(scoped: Scoped, precondition: Precondition | undefined): void {
  const { ifMatch, ifUnmodifiedSince } = precondition ?? {}
  if (ifMatch === undefined && ifUnmodifiedSince !== undefined) assertPermits(scoped, ['read'])
}

/** The part of a listing with this prefix that the scope shows. Throws `scope_insufficient` if there is none. */
export function narrowPrefix({ scope }: Scoped, prefix: FileNamePrefix): FileNamePrefix {
  if (scope === undefined || prefix.startsWith(scope.prefix)) return prefix
  if (scope.prefix.startsWith(prefix)) return scope.prefix
  throw insufficient('prefix')
}

/** Throws `scope_insufficient` for the files of another device than that of the token. */
export function assertCoversDevice({ scope }: Scoped, deviceId: string | undefined): void {
  const own = scope?.deviceId ?? deviceId
  if (deviceId !== undefined && deviceId !== own) throw insufficient('device_id')
}

/**
 * The precondition of a write whose caller may only create, or only replace: as if the request had `If-None-Match: *`
 * or `If-Match: *` in addition. The commit decides by it, so a file that comes or goes meanwhile changes nothing. Throws
 * as `assertMayCompare` does.
 */
export function narrowPrecondition(
  scoped: Scoped,
  precondition: Precondition | undefined,
): Precondition | undefined {
  assertMayCompare(scoped, precondition)
  if (!permits(scoped, 'replace')) return { ...precondition, ifNoneMatch: '*' }
  if (permits(scoped, 'create')) return precondition
  return { ...precondition, mustExist: true }
}

/** What an unfinished upload asks for, and the scope of who finishes it has to permit. */
interface UploadDemands {
  readonly precondition: Precondition | undefined
  readonly visibility: Visibility | undefined
  readonly evict: FileNamePrefix | undefined
}

/** Throws `scope_insufficient` unless the scope permits an upload that another token of the user has created. */
export function assertMayFinish(
  scoped: Scoped,
  { precondition, visibility, evict }: UploadDemands,
): void {
  assertMayCompare(scoped, precondition)
  if (precondition?.ifNoneMatch !== '*') assertPermits(scoped, ['replace'])
  const mustExist = precondition?.mustExist === true || precondition?.ifMatch !== undefined
  if (!mustExist) assertPermits(scoped, ['create'])
  if (visibility !== undefined) assertMaySetVisibility(scoped, visibility)
  if (evict !== undefined) assertMayEvict(scoped, evict)
}

/** Whether `assertMayFinish` permits it. */
export function mayFinish(scoped: Scoped, upload: UploadDemands): boolean {
  try {
    assertMayFinish(scoped, upload)
    return true
  } catch (error) {
    if (isAppError(error, 'scope_insufficient')) return false
    throw error
  }
}

/**
 * Evicted files leave no history, so to evict is to purge: throws `scope_insufficient` unless the scope permits to delete
 * files with the prefix and to purge the history, or its uploads evict these files without being asked.
 */
function assertMayEvict(scoped: Scoped, prefix: FileNamePrefix): void {
  const own = ownEviction(scoped)
  if (own !== undefined && prefix.startsWith(own)) return
  assertPermits(scoped, ['delete'], prefix)
  assertPermits(scoped, ['history'])
}

/** The prefix of the files that the token's uploads evict without being asked. */
function ownEviction({ scope }: Scoped): FileNamePrefix | undefined {
  return scope?.whenFull === 'evict_oldest' ? scope.prefix : undefined
}

/** Whether there are names that the scope does not cover. */
export function hasPrefix({ scope }: Scoped): boolean {
  return scope !== undefined && scope.prefix !== ''
}

/** Throws `scope_insufficient` for what concerns every name, if the scope has a prefix. */
export function assertEveryName(scoped: Scoped): void {
  if (hasPrefix(scoped)) throw insufficient('prefix')
}

/**
 * The prefix of the files that an upload may evict: as it asks, else as its token says. Throws `scope_insufficient` as
 * `assertMayEvict` does.
 */
export function permittedEviction(
  scoped: Scoped,
  asked: FileNamePrefix | undefined,
): FileNamePrefix | undefined {
  if (asked !== undefined) assertMayEvict(scoped, asked)
  return asked ?? ownEviction(scoped)
}

/** The scope of a token that another token makes: what is left out comes from the parent. */
export function childScope(
  { scope: parent }: Scoped,
  asked: AskedScope | undefined,
): Scope | undefined {
  if (parent === undefined) return asked && completeScope(asked)
  const {
    actions = parent.actions,
    prefix = parent.prefix,
    deviceId = parent.deviceId,
    whenFull = parent.whenFull,
  } = asked ?? {}
  const wider = actions.find((action) => !parent.actions.includes(action))
  if (wider !== undefined) throw insufficient(wider)
  if (!prefix.startsWith(parent.prefix)) throw insufficient('prefix')
  if (parent.deviceId !== undefined && deviceId !== parent.deviceId) throw insufficient('device_id')
  const mayPurge = parent.actions.includes('delete') && parent.actions.includes('history')
  const mayEvict = parent.whenFull === 'evict_oldest' || mayPurge
  if (whenFull === 'evict_oldest' && !mayEvict) throw insufficient('when_full')
  return { actions, prefix, deviceId, whenFull }
}

/** A scope as a request asks for it. */
export interface AskedScope {
  readonly actions?: readonly Action[] | undefined
  readonly prefix?: FileNamePrefix | undefined
  readonly deviceId?: string | undefined
  readonly whenFull?: WhenFull | undefined
}

/** Permits nothing. */
export const NOTHING: Scope = {
  actions: [],
  prefix: EVERY_NAME,
  deviceId: undefined,
  whenFull: 'refuse',
}

export function completeScope({
  actions = ACTIONS,
  prefix = EVERY_NAME,
  deviceId,
  whenFull = 'refuse',
}: AskedScope): Scope {
  return { actions, prefix, deviceId, whenFull }
}

function insufficient(required: string): AppError {
  const isAction = ACTIONS.some((action) => action === required)
  const reason = isAction ? `it lacks "${required}"` : `its "${required}" is too narrow`
  const detail = `The access token does not permit this request: ${reason}.`
  return new AppError('scope_insufficient', detail, { facts: { required } })
}

interface Life {
  /** `undefined`: as long as it may. */
  readonly askedMs: number | undefined
  /** How long the token lives on that makes it; `undefined` if it may outlive that. */
  readonly makerMs: number | undefined
  /** The longest life of its kind, which the caller has compared with what is asked. */
  readonly maxMs?: number | undefined
}

/**
 * The life of a token or link that is made with a token, in milliseconds; `undefined` if it does not expire. Throws
 * `scope_insufficient` if more is asked than the token has left.
 */
export function lifeWithin({ askedMs, makerMs = Infinity, maxMs = Infinity }: Life) {
  if (makerMs < 1 || (askedMs ?? 0) > makerMs) throw expiresTooLate()
  const lifeMs = askedMs ?? Math.min(makerMs, maxMs)
  return lifeMs === Infinity ? undefined : lifeMs
}

/** For a child that would outlive its parent. */
export function expiresTooLate(member: 'expires_in' | 'expires_at' = 'expires_in'): AppError {
  return insufficient(member)
}

/** Per user. Ended tokens do not count. */
export const MAX_VALID_TOKENS = 1_000

/**
 * A scope in the form of the API, `{"actions"?, "prefix"?, "device_id"?, "when_full"?}`. Throws `invalid_parameter` for
 * anything else: a member that is not understood could be a limit.
 */
export function parseScope(value: unknown): AskedScope {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed()
  const {
    actions,
    prefix,
    device_id: deviceId,
    when_full: whenFull,
    ...others
  } = value as Record<string, unknown>
  if (Object.keys(others).length > 0) throw malformed()
  return {
    actions: actions === undefined ? undefined : parseActions(actions),
    prefix: prefix === undefined ? undefined : parsePrefix(prefix),
    deviceId: deviceId === undefined ? undefined : parseDeviceId(deviceId),
    whenFull: whenFull === undefined ? undefined : parseWhenFull(whenFull),
  }
}

function parseWhenFull(value: unknown): WhenFull {
  const known = WHEN_FULL.find((each) => each === value)
  if (known === undefined) throw malformed()
  return known
}

function parseActions(value: unknown): readonly Action[] {
  const names: readonly unknown[] = Array.isArray(value) ? value : []
  const actions = ACTIONS.filter((action) => names.includes(action))
  if (actions.length === 0 || actions.length !== names.length) throw malformed()
  return actions
}

function parsePrefix(value: unknown): FileNamePrefix {
  if (typeof value !== 'string') throw malformed()
  return parseFileNamePrefix(value)
}

function parseDeviceId(value: unknown): string {
  if (typeof value !== 'string' || !isReference(value)) throw malformed()
  return value
}

function malformed(): AppError {
  return invalidParameter(
    'scope',
    `scope must be an object with "actions" (a list of ${ACTIONS.join(', ')}, each at most once), "prefix", ` +
      `"device_id" and "when_full" (${WHEN_FULL.join(' or ')}), each optional.`,
  )
}
