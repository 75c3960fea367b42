import { type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '../../packages/js/src/client.ts'
import type { FileEntry, OwnToken, TokenAction } from '../shared/model.ts'
import { permits, termsWithin, within } from '../shared/token-scope.ts'

/** What the token of the session permits. The page offers nothing else, and sends no request for anything else. */
export interface Permissions {
  /** As the last `read` to begin has found it; `undefined` before the first. */
  readonly token: ReadonlySignal<OwnToken | undefined>
  /** Asks the service. Rejects with a `CloudRepositoryError`. */
  readonly read: () => Promise<void>
  /** Whether the token permits one of the actions. */
  readonly may: (...anyOf: readonly TokenAction[]) => boolean
  readonly mayUpload: () => boolean
  /** Whether uploads that do not fit make room. */
  readonly evicts: () => boolean
  /** Of all names that the token permits; empty for every name. */
  readonly prefix: () => string
  /** The name, with the prefix of the token in front unless it begins with it. */
  readonly within: (name: string) => string
  /** The part of a search that the token permits: by the whole name, or by what follows the prefix. */
  readonly narrow: (prefix: string) => string
  /** Whether the file is the user's who is signed in. */
  readonly owns: (file: Pick<FileEntry, 'user_id'>) => boolean
  /** The terms, in days, of what the token may make. */
  readonly terms: (all: readonly number[]) => readonly number[]
}

export function createPermissions(client: Pick<Client, 'session'>): Permissions {
  const token = signal<OwnToken>()
  let reading = 0
  const scope = () => token.value?.scope ?? null
  const may: Permissions['may'] = (...anyOf) => permits(scope(), ...anyOf)
  const prefix = () => scope()?.prefix ?? ''
  const withinPrefix = (name: string) => within(scope(), name)
  return {
    token,
    async read() {
      const mine = (reading += 1)
      const found = await client.session()
      if (mine === reading) token.value = found
    },
    may,
    mayUpload: () => may('create', 'replace'),
    evicts: () => scope()?.when_full === 'evict_oldest',
    prefix,
    within: withinPrefix,
    narrow: (sought) => (prefix().startsWith(sought) ? prefix() : withinPrefix(sought)),
    owns: ({ user_id: owner }) => owner === token.value?.user_id,
    terms: (all) => termsWithin(token.value, all),
  }
}
