import { isPortNumber } from '../core/port-number.ts'

// Each parser throws an `Error` whose message continues the setting's name, and never repeats the URL, which may contain
// a secret.

/** A URL that the service requests: http or https, without credentials, fragment or a port that `fetch` blocks. */
export function parseUrl(text: string): string | undefined {
  if (text === '') return undefined
  const url = httpUrlOf(text)
  if (url === undefined) {
    throw new Error('must be an http or https URL, such as http://127.0.0.1:9000')
  }
  assertWithoutCredentials(url)
  if (text.includes('#')) throw new Error('must have no fragment; write a # as %23')
  if (BLOCKED_PORTS.has(Number(url.port))) {
    throw new Error('must have another port; fetch and browsers block this one')
  }
  return text
}

/** `undefined` for what only `URL` takes for an http or https URL, such as `http:host` or `http:///host`. */
export function httpUrlOf(text: string): URL | undefined {
  return /^https?:\/\/[^/\\\s]/i.test(text) ? (URL.parse(text) ?? undefined) : undefined
}

/** For a URL that is printed or requested: neither may reveal a password. */
export function assertWithoutCredentials({ username, password }: URL): void {
  if (username === '' && password === '') return
  throw new Error('must have no user name and no password')
}

/**
 * What operators see of a URL: `/...` stands for a path and a query, which can contain a secret. Of a database, they see
 * its name, or the whole path of a local file.
 */
export function placeOf(text: string): string {
  if (text.startsWith('sqlite:')) return text
  const url = URL.parse(text)
  if (url === null) return ''
  const { protocol, host, pathname, search } = url
  if (protocol.startsWith('postgres')) return `${protocol}//${host}${pathname}`
  return `${protocol}//${host}${pathname + search === '/' ? '' : '/...'}`
}

export function parseBasePath(text: string): string {
  if (isBasePath(text)) return text
  throw new Error(
    'must be a path such as /api, without a trailing slash, and without . and .. in it',
  )
}

function isBasePath(text: string): boolean {
  // Clients and proxies resolve them.
  const hasDots = text.split('/').some((segment) => segment === '.' || segment === '..')
  return /^(\/[A-Za-z0-9._~-]+)*$/.test(text) && !hasDots
}

/** Returns the URL without a slash at its end. Its path may contain what that of `BASE_PATH` may. */
export function parsePublicUrl(text: string): string | undefined {
  const url = parseUrl(text)
  if (url === undefined) return undefined
  const { origin, pathname } = new URL(url)
  const path = pathname.replace(/\/$/, '')
  if (!url.includes('?') && isBasePath(path)) return origin + path
  throw new Error(
    'must have a path such as /files or none, of A-Z, a-z, 0-9, ".", "_", "~" and "-", and no query',
  )
}

/** The signature covers the path, which a proxy could change. */
export function parsePublicEndpoint(text: string): string | undefined {
  const url = parseUrl(text)
  if (url === undefined || new URL(url).origin === url.replace(/\/$/, '')) return url
  throw new Error('must be an http or https URL without a path, such as https://s3.example.com')
}

/**
 * `postgres://user:password@host:port/database?options`. In a password that is not percent-encoded, `/`, `?` or `#` ends
 * the authority, so that the driver would look up the rest of the password as a host, and name it in its error.
 */
export function parsePostgresUrl(text: string): string {
  const [, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(text) ?? []
  if (/[@#]/.test(rest)) throw new Error(NOT_ENCODED)
  const place = authority.slice(authority.lastIndexOf('@') + 1)
  const options = new URLSearchParams(rest.slice(rest.indexOf('?') + 1))
  // The driver supports one host; it would take libpq's list for a single host name.
  if (place.includes(',') || options.getAll('host').some((host) => host.includes(','))) {
    throw new Error('must have one host: a name or a load balancer that points to the primary')
  }
  const found = PLACE.exec(place)
  if (found === null) throw new Error(NOT_ENCODED)
  const ports = [found[1] ?? '', ...options.getAll('port')]
  if (!ports.every((port) => port === '' || (isPortNumber(port) && Number(port) > 0))) {
    throw new Error('must have a port from 1 to 65535, or none')
  }
  return text
}

const NOT_ENCODED =
  'is not a valid URL; percent-encode special characters of the user name and the password, such as / as %2F, ? as %3F, ' +
  '# as %23 and @ as %40'

/** A host and a port, both optional: sockets have neither, or a folder that is percent-encoded. */
const PLACE = /^(?:\[[\da-f:.]+\]|[^:@[\]\s]*)(?::(\d*))?$/i

/** Fetch Standard, section 2.9, "bad port". */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
])

/** Whether the host is this machine, by name or address. */
export function isLoopback(url: string | undefined): boolean {
  const host = url === undefined ? undefined : URL.parse(url)?.hostname
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)
}
