import { type ReadonlySignal, signal } from '@preact/signals'

/** What of the service is looked at. */
export type Place = { readonly kind: 'users' } | { readonly kind: 'user'; readonly userId: string }

/** The place that the address names behind `#`, so that it can be gone back to, reloaded and opened in another tab. */
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
  // Ids have no letter that an address would write in another way.
  const [, userId] = /^#\/users\/([\w-]{1,64})$/.exec(hash) ?? []
  return userId === undefined ? { kind: 'users' } : { kind: 'user', userId }
}
