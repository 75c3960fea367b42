import { type ReadonlySignal, signal } from '@preact/signals'
import type {
  AdminClient,
  Device,
  Grant,
  UnfinishedUpload,
  User,
} from '../../../client/src/admin.ts'
import { isProblem } from '../../../client/src/errors.ts'
import { messageOf } from '../../shared/error-message.ts'
import type { AccessToken } from '../../shared/model.ts'
import { messages } from '../../messages.ts'

/** All that an operator can see of a user. This excludes the files, but not the names of unfinished uploads. */
export interface UserRecord {
  readonly account: User
  readonly devices: readonly Device[]
  /** Without the grants of devices. */
  readonly grants: readonly Grant[]
  readonly tokens: readonly AccessToken[]
  readonly uploads: readonly UnfinishedUpload[]
}

export interface WatchedRecord {
  /** `null` if the user does not exist. */
  readonly record: ReadonlySignal<UserRecord | null | undefined>
  /** Why the last read failed. */
  readonly problem: ReadonlySignal<string | undefined>
  /** Reads the record again. Never rejects. */
  read(): Promise<void>
  /** As `read`, but does nothing during a read. */
  refresh(): Promise<void>
}

export function createUserRecord(client: AdminClient, userId: string): WatchedRecord {
  const user = client.user(userId)
  const record = signal<UserRecord | null>()
  const problem = signal<string>()
  let lastAsked = 0
  let pending = 0

  async function ask(): Promise<UserRecord | null> {
    try {
      const [account, devices, grants, tokens, uploads] = await Promise.all([
        client.users.get(userId),
        Array.fromAsync(user.devices.list(ALL)),
        Array.fromAsync(user.grants.list(ALL)),
        Array.fromAsync(user.tokens.list(ALL)),
        Array.fromAsync(user.uploads.list(ALL)),
      ])
      const others = grants.filter(({ source }) => source !== 'device')
      return { account, devices, grants: others, tokens, uploads }
    } catch (error) {
      if (!isProblem(error, 'not_found')) throw error
      return null
    }
  }

  /** Only the result of the latest read counts. */
  async function read(): Promise<void> {
    lastAsked += 1
    const asked = lastAsked
    pending += 1
    try {
      const answer = await ask()
      if (asked !== lastAsked) return
      record.value = answer
      problem.value = undefined
    } catch (error) {
      if (asked === lastAsked) problem.value = messages.failed(messageOf(error))
    } finally {
      pending -= 1
    }
  }

  async function refresh(): Promise<void> {
    if (pending === 0) await read()
  }

  return { record, problem, read, refresh }
}

/** In pages of the greatest size. */
const ALL = { limit: 1000 }
