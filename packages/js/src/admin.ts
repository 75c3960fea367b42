import type { components, operations } from './generated/admin-api.ts'
import { type Archive, type ArchiveOptions, downloadArchive } from './files/archive.ts'
import {
  createHttp,
  encodeFilePath,
  type Http,
  repeatable,
  segment,
  type ServiceAddress,
  type Token,
} from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'
import type { Link, LinkChanges, LinkPage } from './links.ts'
import { createTokens, type Tokens } from './tokens.ts'

export { CloudRepositoryError, type ErrorCode, isProblem, type ProblemOf } from './errors.ts'

type Schemas = components['schemas']

export type { Archive, ArchiveOptions } from './files/archive.ts'

export type User = Schemas['User']
export type ListedUser = Schemas['ListedUser']
export type UserDetails = Schemas['UserDetails']
export type DeviceUsage = Schemas['DeviceUsage']
export type Device = Schemas['Device']
export type DeviceTerms = Schemas['DeviceTerms']
export type Grant = Schemas['Grant']
export type GrantTerms = Schemas['GrantTerms']
export type PastVersion = Schemas['PastVersion']
export type RestoreTerms = Schemas['Restore']
export type RestoredFile = Schemas['RestoredFile']
export type UnfinishedUpload = Schemas['UnfinishedUpload']
export type { Link, LinkChanges, LinkPage } from './links.ts'
export type ParkedWebhook = Schemas['ParkedWebhook']
export type StoredFile = Schemas['StoredFile']
export type Overview = Schemas['Overview']
export type OperatorAction = Schemas['OperatorAction']
export type Operator = Schemas['Operator']
export type IssuedOperator = Schemas['IssuedOperator']
export type OperatorRole = Operator['role']
/** `operator` is `null` with the `ADMIN_TOKEN`. */
export type AdminSession = Schemas['OwnSession']

interface Signalled {
  readonly signal?: AbortSignal | undefined
}

/** The accounts. All changes but `create` can be repeated, and are after a lost response. */
export interface Users {
  /** Creates a user with a generated id. If the response is lost, rejects with `connection_lost`. */
  create(options?: Signalled): Promise<User>
  /** Creates the user unless it exists. Rejects with `user_exists` while a deleted user of that id is being purged. */
  put(userId: string, options?: Signalled): Promise<User>
  get(userId: string, options?: Signalled): Promise<UserDetails>
  list(
    options?: ListingOptions & {
      readonly prefix?: string | undefined
      /** A part of the id, or of the id or label of a device. */
      readonly contains?: string | undefined
      /** By id, the default and, with `prefix` or `contains`, the only one; or by creation, `-` for the newest first. */
      readonly order?: 'user_id' | 'created_at' | '-created_at' | undefined
    },
  ): Listing<ListedUser, Schemas['UserPage']>
  /** A suspended user cannot do anything, and its public files are not found. */
  setStatus(userId: string, status: User['status'], options?: Signalled): Promise<User>
  /** Deletes the user and all its files. */
  delete(userId: string, options?: Signalled): Promise<void>
}

/** What belongs to one user. */
export interface UserAdmin {
  readonly tokens: Tokens
  readonly devices: {
    list(options?: ListingOptions): Listing<Device, Schemas['DevicePage']>
    /** Adds the device, or changes it. */
    put(deviceId: string, terms?: DeviceTerms, options?: Signalled): Promise<Device>
    delete(deviceId: string, options?: Signalled): Promise<void>
  }
  readonly grants: {
    list(options?: ListingOptions): Listing<Grant, Schemas['GrantPage']>
    /** Grants the bytes once for each source and reference, however often it is called. */
    put(key: GrantKey, terms: GrantTerms, options?: Signalled): Promise<Grant>
    revoke(key: GrantKey, options?: Signalled): Promise<void>
  }
  readonly history: {
    list(
      options?: ListingOptions & {
        readonly name?: string | undefined
        readonly prefix?: string | undefined
      },
    ): Listing<PastVersion, Schemas['HistoryPage']>
    /** After a lost response, a repetition can reject with `not_found` although the version was restored. */
    restore(version: string, terms?: RestoreTerms, options?: Signalled): Promise<RestoredFile>
  }
  /** The files of the user, also of a suspended one. */
  readonly files: {
    list(options?: UserFileListing): Listing<StoredFile, Schemas['FilePage']>
    /** Deletes a file as the user does: the history keeps it for a while. */
    delete(name: string, options?: Signalled): Promise<void>
  }
  /** Downloads the user's files, as `files.archive` does. */
  archive(options?: ArchiveOptions): Promise<Archive>
  readonly links: {
    /** The oldest first, without secrets. Rejects with `user_suspended` unless the user is active, as `revoke` does. */
    list(options?: ListingOptions): Listing<Link, LinkPage>
    /** Changes what is given. `null` takes a limit or the password away. */
    update(linkId: string, changes: LinkChanges, options?: Signalled): Promise<Link>
    /** Ends a link for everyone. Downloads in progress go on. */
    revoke(linkId: string, options?: Signalled): Promise<void>
  }
  readonly uploads: {
    list(options?: ListingOptions): Listing<UnfinishedUpload, Schemas['UnfinishedUploadPage']>
    cancel(uploadId: string, options?: Signalled): Promise<void>
  }
}

/** As the options of `files.list` in the main entry point. */
export interface UserFileListing
  extends
    ListingOptions,
    Pick<
      NonNullable<operations['listUserFiles']['parameters']['query']>,
      'prefix' | 'contains' | 'delimiter' | 'order'
    > {
  readonly deviceId?: string | undefined
}

/** What a grant is for. Together, both are unique for a user. */
export interface GrantKey {
  readonly source: string
  readonly reference: string
}

/** Webhooks whose receiver did not accept them. */
export interface ParkedWebhooks {
  list(options?: ListingOptions): Listing<ParkedWebhook, Schemas['ParkedWebhookPage']>
  /** Sends it again. Rejects with `webhook_failed` if the receiver does not accept it. */
  retry(webhookId: string, options?: Signalled): Promise<void>
  discard(webhookId: string, options?: Signalled): Promise<void>
}

/** Who may use the admin API, each with a token of their own. */
export interface Operators {
  /** The token is in this response only. If the response is lost, rejects with `connection_lost`. */
  add(name: string, role: OperatorRole, options?: Signalled): Promise<IssuedOperator>
  /** By name, without tokens. */
  list(options?: ListingOptions): Listing<Operator, Schemas['OperatorPage']>
  get(name: string, options?: Signalled): Promise<Operator>
  /** Ends the token and the sessions of the operator. */
  remove(name: string, options?: Signalled): Promise<void>
}

/** What operators did. */
export interface AuditTrail {
  /** The newest first; only what concerns the user, or what the operator did. Both may be gone. */
  list(
    options?: ListingOptions & {
      readonly userId?: string | undefined
      readonly operator?: string | undefined
    },
  ): Listing<OperatorAction, Schemas['OperatorActionPage']>
}

/** The admin API. All methods reject with a `CloudRepositoryError`, or with the reason of `signal`. */
export interface AdminClient {
  readonly users: Users
  readonly operators: Operators
  readonly webhooks: ParkedWebhooks
  readonly audit: AuditTrail
  user(userId: string): UserAdmin
  /** The figures of the whole service, up to a minute old. */
  overview(options?: Signalled): Promise<Overview>
  /** Whose the token is, and what it permits. */
  session(options?: Signalled): Promise<AdminSession>
}

/**
 * `url` is the address of the admin listener, and `token` that of an operator, or `ADMIN_TOKEN`. No browser may have it.
 * With `cookies` instead, a page of the admin listener uses its session. Throws a `CloudRepositoryError` with the code
 * `invalid_url`.
 */
export function createAdminClient(
  options: ServiceAddress &
    (
      | { readonly token: Token; readonly cookies?: never }
      | { readonly cookies: true; readonly token?: never }
    ),
): AdminClient {
  const http = createHttp(options)
  return {
    users: usersOf(http),
    operators: operatorsOf(http),
    webhooks: webhooksOf(http),
    audit: auditOf(http),
    user: (userId) => userOf(http, userId),
    overview: async ({ signal } = {}) => http.json({ path: 'admin/overview', signal }),
    session: async ({ signal } = {}) => http.json({ path: 'session', signal }),
  }
}

const USERS = 'admin/users'
const OPERATORS = 'admin/operators'
const WEBHOOKS = 'admin/webhooks/parked'

function usersOf(http: Http): Users {
  const pathOf = (userId: string): string => `${USERS}/${segment(userId)}`
  return {
    create: async ({ signal } = {}) => http.json({ method: 'POST', path: USERS, json: {}, signal }),
    put: async (userId, { signal } = {}) =>
      http.json({ method: 'PUT', path: pathOf(userId), json: {}, signal }),
    get: async (userId, { signal } = {}) => http.json({ path: pathOf(userId), signal }),
    list(options = {}) {
      const { prefix, contains, order } = options
      const query = { prefix, contains, order }
      const listed = { path: USERS, options, query, member: 'users' } as const
      return createListing<Schemas['UserPage'], 'users'>(http, listed)
    },
    setStatus: async (userId, status, { signal } = {}) =>
      http.json({ method: 'PATCH', path: pathOf(userId), json: { status }, signal }),
    delete: async (userId, { signal } = {}) => http.remove({ path: pathOf(userId), signal }),
  }
}

function userOf(http: Http, userId: string): UserAdmin {
  const user = `${USERS}/${segment(userId)}`
  const grantPath = ({ source, reference }: GrantKey): string =>
    `${user}/grants/${segment(source)}/${segment(reference)}`
  return {
    tokens: createTokens(http, `${user}/access-tokens`),
    devices: {
      list(options = {}) {
        const listed = { path: `${user}/devices`, options, member: 'devices' } as const
        return createListing<Schemas['DevicePage'], 'devices'>(http, listed)
      },
      put: async (deviceId, terms = {}, { signal } = {}) => {
        const path = `${user}/devices/${segment(deviceId)}`
        return http.json({ method: 'PUT', path, json: terms, signal })
      },
      delete: async (deviceId, { signal } = {}) =>
        http.remove({ path: `${user}/devices/${segment(deviceId)}`, signal }),
    },
    grants: {
      list(options = {}) {
        const listed = { path: `${user}/grants`, options, member: 'grants' } as const
        return createListing<Schemas['GrantPage'], 'grants'>(http, listed)
      },
      put: async (key, terms, { signal } = {}) =>
        http.json({ method: 'PUT', path: grantPath(key), json: terms, signal }),
      revoke: async (key, { signal } = {}) => http.remove({ path: grantPath(key), signal }),
    },
    files: {
      list(options = {}) {
        const { prefix, contains, deviceId: device_id, delimiter, order } = options
        const query = { prefix, contains, device_id, delimiter, order }
        const listed = { path: `${user}/files`, options, query, member: 'files' } as const
        return createListing<Schemas['FilePage'], 'files'>(http, listed)
      },
      delete: async (name, { signal } = {}) =>
        http.remove({ path: `${user}/files/${encodeFilePath(name)}`, signal }),
    },
    archive: async (options = {}) => downloadArchive(http, `${user}/archive`, options),
    history: {
      list(options = {}) {
        const query = { name: options.name, prefix: options.prefix }
        const listed = { path: `${user}/history`, options, query, member: 'versions' } as const
        return createListing<Schemas['HistoryPage'], 'versions'>(http, listed)
      },
      restore: async (version, terms = {}, { signal } = {}) => {
        const path = `${user}/history/${segment(version)}/restore`
        return http.json<RestoredFile>({ method: 'POST', path, json: terms, signal }, repeatable)
      },
    },
    links: {
      list: (options = {}) =>
        createListing<LinkPage, 'links'>(http, { path: `${user}/links`, options, member: 'links' }),
      update: async (linkId, json, { signal } = {}) =>
        http.json({ method: 'PATCH', path: `${user}/links/${segment(linkId)}`, json, signal }),
      revoke: async (linkId, { signal } = {}) =>
        http.remove({ path: `${user}/links/${segment(linkId)}`, signal }),
    },
    uploads: {
      list(options = {}) {
        const listed = { path: `${user}/uploads`, options, member: 'uploads' } as const
        return createListing<Schemas['UnfinishedUploadPage'], 'uploads'>(http, listed)
      },
      cancel: async (uploadId, { signal } = {}) =>
        http.remove({ path: `${user}/uploads/${segment(uploadId)}`, signal }),
    },
  }
}

function operatorsOf(http: Http): Operators {
  const pathOf = (name: string): string => `${OPERATORS}/${segment(name)}`
  return {
    add: async (name, role, { signal } = {}) =>
      http.json({ method: 'POST', path: OPERATORS, json: { name, role }, signal }),
    list(options = {}) {
      const listed = { path: OPERATORS, options, member: 'operators' } as const
      return createListing<Schemas['OperatorPage'], 'operators'>(http, listed)
    },
    get: async (name, { signal } = {}) => http.json({ path: pathOf(name), signal }),
    remove: async (name, { signal } = {}) => http.remove({ path: pathOf(name), signal }),
  }
}

function webhooksOf(http: Http): ParkedWebhooks {
  return {
    list(options = {}) {
      const listed = { path: WEBHOOKS, options, member: 'webhooks' } as const
      return createListing<Schemas['ParkedWebhookPage'], 'webhooks'>(http, listed)
    },
    async retry(webhookId, { signal } = {}) {
      const path = `${WEBHOOKS}/${segment(webhookId)}/retry`
      await http.call({ method: 'POST', path, isOnce: true, signal })
    },
    discard: async (webhookId, { signal } = {}) =>
      http.remove({ path: `${WEBHOOKS}/${segment(webhookId)}`, signal }),
  }
}

function auditOf(http: Http): AuditTrail {
  return {
    list(options = {}) {
      const query = { user_id: options.userId, operator: options.operator }
      const listed = { path: 'admin/audit', options, query, member: 'actions' } as const
      return createListing<Schemas['OperatorActionPage'], 'actions'>(http, listed)
    },
  }
}
