import type { components } from './generated/admin-api.ts'
import { createHttp, type Http, segment, type ServiceAddress, type Token } from './http/http.ts'
import { createListing, type Listing, type ListingOptions } from './http/listing.ts'
import { createTokens, type Tokens } from './tokens.ts'

export { CloudRepositoryError, type ErrorCode, isProblem, type ProblemOf } from './errors.ts'

type Schemas = components['schemas']

export type User = Schemas['User']
export type Device = Schemas['Device']
export type DeviceTerms = Schemas['DeviceTerms']
export type Grant = Schemas['Grant']
export type GrantTerms = Schemas['GrantTerms']
export type PastVersion = Schemas['PastVersion']
export type RestoreTerms = Schemas['Restore']
export type RestoredFile = Schemas['RestoredFile']
export type UnfinishedUpload = Schemas['UnfinishedUpload']
export type ParkedWebhook = Schemas['ParkedWebhook']

interface Signalled {
  readonly signal?: AbortSignal | undefined
}

/** The accounts. All changes but `create` can be repeated, and are after a lost response. */
export interface Users {
  /** Creates a user with a generated id. If the response is lost, rejects with `connection_lost`. */
  create(options?: Signalled): Promise<User>
  /** Creates the user unless it exists. Rejects with `user_exists` while a deleted user of that id is being purged. */
  put(userId: string, options?: Signalled): Promise<User>
  get(userId: string, options?: Signalled): Promise<User>
  list(
    options?: ListingOptions & { readonly prefix?: string | undefined },
  ): Listing<User, Schemas['UserPage']>
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
      options?: ListingOptions & { readonly name?: string | undefined },
    ): Listing<PastVersion, Schemas['HistoryPage']>
    /** After a lost response, a repetition can reject with `not_found` although the version was restored. */
    restore(version: string, terms?: RestoreTerms, options?: Signalled): Promise<RestoredFile>
  }
  readonly uploads: {
    list(options?: ListingOptions): Listing<UnfinishedUpload, Schemas['UnfinishedUploadPage']>
    cancel(uploadId: string, options?: Signalled): Promise<void>
  }
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

/** The admin API. All methods reject with a `CloudRepositoryError`, or with the reason of `signal`. */
export interface AdminClient {
  readonly users: Users
  readonly webhooks: ParkedWebhooks
  user(userId: string): UserAdmin
}

/** `url` is the address of the admin listener, and `token` the `ADMIN_TOKEN` of the deployment. Not for browsers. */
export function createAdminClient(
  options: ServiceAddress & { readonly token: Token },
): AdminClient {
  const http = createHttp(options, { token: options.token })
  return {
    users: usersOf(http),
    webhooks: webhooksOf(http),
    user: (userId) => userOf(http, userId),
  }
}

const USERS = 'admin/users'
const WEBHOOKS = 'admin/webhooks/parked'

function usersOf(http: Http): Users {
  const pathOf = (userId: string): string => `${USERS}/${segment(userId)}`
  return {
    create: async ({ signal } = {}) =>
      http.json({ method: 'POST', path: USERS, json: {}, isCreation: true, signal }),
    put: async (userId, { signal } = {}) =>
      http.json({ method: 'PUT', path: pathOf(userId), json: {}, signal }),
    get: async (userId, { signal } = {}) => http.json({ path: pathOf(userId), signal }),
    list(options = {}) {
      const query = { prefix: options.prefix }
      const itemsOf = ({ users }: Schemas['UserPage']) => users
      return createListing(http, { path: USERS, options, query, itemsOf })
    },
    setStatus: async (userId, status, { signal } = {}) =>
      http.json({ method: 'PATCH', path: pathOf(userId), json: { status }, signal }),
    delete: async (userId, { signal } = {}) => remove(http, pathOf(userId), signal),
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
        const itemsOf = ({ devices }: Schemas['DevicePage']) => devices
        return createListing(http, { path: `${user}/devices`, options, itemsOf })
      },
      put: async (deviceId, terms = {}, { signal } = {}) => {
        const path = `${user}/devices/${segment(deviceId)}`
        return http.json({ method: 'PUT', path, json: terms, signal })
      },
      delete: async (deviceId, { signal } = {}) =>
        remove(http, `${user}/devices/${segment(deviceId)}`, signal),
    },
    grants: {
      list(options = {}) {
        const itemsOf = ({ grants }: Schemas['GrantPage']) => grants
        return createListing(http, { path: `${user}/grants`, options, itemsOf })
      },
      put: async (key, terms, { signal } = {}) =>
        http.json({ method: 'PUT', path: grantPath(key), json: terms, signal }),
      revoke: async (key, { signal } = {}) => remove(http, grantPath(key), signal),
    },
    history: {
      list(options = {}) {
        const query = { name: options.name }
        const itemsOf = ({ versions }: Schemas['HistoryPage']) => versions
        return createListing(http, { path: `${user}/history`, options, query, itemsOf })
      },
      restore: async (version, terms = {}, { signal } = {}) => {
        const path = `${user}/history/${segment(version)}/restore`
        return http.json({ method: 'POST', path, json: terms, signal })
      },
    },
    uploads: {
      list(options = {}) {
        const itemsOf = ({ uploads }: Schemas['UnfinishedUploadPage']) => uploads
        return createListing(http, { path: `${user}/uploads`, options, itemsOf })
      },
      cancel: async (uploadId, { signal } = {}) =>
        remove(http, `${user}/uploads/${segment(uploadId)}`, signal),
    },
  }
}

function webhooksOf(http: Http): ParkedWebhooks {
  const pathOf = (webhookId: string): string => `${WEBHOOKS}/${segment(webhookId)}`
  return {
    list(options = {}) {
      const itemsOf = ({ webhooks }: Schemas['ParkedWebhookPage']) => webhooks
      return createListing(http, { path: WEBHOOKS, options, itemsOf })
    },
    async retry(webhookId, { signal } = {}) {
      await http.call({ method: 'POST', path: `${pathOf(webhookId)}/retry`, signal })
    },
    discard: async (webhookId, { signal } = {}) => remove(http, pathOf(webhookId), signal),
  }
}

async function remove(http: Http, path: string, signal: AbortSignal | undefined): Promise<void> {
  await http.call({ method: 'DELETE', path, signal })
}
