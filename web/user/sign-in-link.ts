/**
 * Takes the access token from the link that opened the page. The token is removed from the address and the history
 * before anything else happens. The address of a folder stays.
 */
export function takeAccessToken(): string | undefined {
  const { hash, pathname, search } = location
  const parts = new URLSearchParams(hash.slice(1))
  const token = parts.get('access_token') ?? undefined
  if (hash === '' || (token === undefined && parts.has('folder'))) return undefined
  history.replaceState(null, '', pathname + search)
  return token
}

/** Whether the host is the user's own machine, where the service itself prints sign-in links. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
