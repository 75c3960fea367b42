export interface SignInLink {
  /** Names the token in the fragment. */
  readonly member: 'access_token' | 'admin_token'
  /** Whether a fragment without a token names a place of the page, and stays. */
  readonly isPlace: (parts: URLSearchParams) => boolean
}

/**
 * Takes the token from the link that opened the page. The token is removed from the address and the history before
 * anything else happens.
 */
export function takeToken({ member, isPlace }: SignInLink): string | undefined {
  const { hash, pathname, search } = location
  const parts = new URLSearchParams(hash.slice(1))
  const token = parts.get(member) ?? undefined
  if (hash === '' || (token === undefined && isPlace(parts))) return undefined
  history.replaceState(null, '', pathname + search)
  return token
}

/** Whether the host is the user's own machine, where the service itself prints sign-in links. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
