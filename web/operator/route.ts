import { type ReadonlySignal, signal } from '@preact/signals'

/** The current view. */
export type Place = { readonly kind: 'users' } | { readonly kind: 'user'; readonly userId: string }

/** The view that the URL fragment names, so that history, reload and new tabs work. */
export function watchPlace(): ReadonlySignal<Place> {
  const place = signal(placeOf(location.hash))
  addEventListener('hashchange', () => {
    place.value = placeOf(location.hash)
  })
  return place
}

export const ALL_USERS = '#/'

export function addressOf(userId: string): string {
  return `#/users/${userId}`
}

function placeOf(hash: string): Place {
  // User ids contain no character that URLs escape.
  const [, userId] = /^#\/users\/([\w-]{1,64})$/.exec(hash) ?? []
  return userId === undefined ? { kind: 'users' } : { kind: 'user', userId }
}
