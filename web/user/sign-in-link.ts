/**
 * Takes the access token from the link that opened the page. The token is removed from the address and the history
 * before anything else happens.
 */
export function takeAccessToken(): string | undefined {
  const { hash, pathname, search } = location
  if (hash === '') return undefined
  history.replaceState(null, '', pathname + search)
  return new URLSearchParams(hash.slice(1)).get('access_token') ?? undefined
}

/** Whether the host is the user's own machine, where the service itself prints sign-in links. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
