import { type ReadonlySignal, signal } from '@preact/signals'

/** The current view. */
export type Place =
  | { readonly kind: 'overview' | 'users' | 'operators' }
  | { readonly kind: 'user' | 'files'; readonly userId: string }
  | { readonly kind: 'audit'; readonly userId: string | undefined }

/** The view that the URL fragment names, so that history, reload and new tabs work. */
export function watchPlace(): ReadonlySignal<Place> {
  const place = signal(placeOf(location.hash))
  addEventListener('hashchange', () => {
    place.value = placeOf(location.hash)
  })
  return place
}

export const OVERVIEW = '#/'
export const ALL_USERS = '#/users'
export const AUDIT = '#/audit'
export const OPERATORS = '#/operators'

export function addressOf(userId: string): string {
  return `${ALL_USERS}/${userId}`
}

export function filesOf(userId: string): string {
  return `${addressOf(userId)}/files`
}

export function auditOf(userId: string): string {
  return `${addressOf(userId)}/audit`
}

function placeOf(hash: string): Place {
  if (hash === ALL_USERS) return { kind: 'users' }
  if (hash === OPERATORS) return { kind: 'operators' }
  if (hash === AUDIT) return { kind: 'audit', userId: undefined }
  // User ids contain no character that URLs escape.
  const [, userId, below] = /^#\/users\/([\w-]{1,64})(?:\/(files|audit))?$/.exec(hash) ?? []
  if (userId === undefined) return { kind: 'overview' }
  if (below === 'audit') return { kind: 'audit', userId }
  return { kind: below === undefined ? 'user' : 'files', userId }
}
