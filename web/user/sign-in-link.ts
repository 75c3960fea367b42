/**
 * The access token that a link to the page brings along. It is used once, and is gone from the address and the history
 * before anything else happens.
 */
export function takeAccessToken(): string | undefined {
  const { hash, pathname, search } = location
  if (hash === '') return undefined
  history.replaceState(null, '', pathname + search)
  return new URLSearchParams(hash.slice(1)).get('access_token') ?? undefined
}

/** Whether a host is the machine of whoever looks, where the program itself prints such links. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
