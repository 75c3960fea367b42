import type { FastifyReply, FastifyRequest } from 'fastify'
import { schemeOf } from '../server/forwarded.ts'

export interface SessionCookies {
  readonly name: string
  readonly basePath: string
  /** Paths below it where another port's page may have planted a cookie, which browsers send first. */
  readonly pathsBelow: readonly string[]
}

/**
 * Sets the cookie for `maxAge` seconds: HttpOnly, SameSite=Strict, over HTTPS also Secure and, without a base path,
 * with the prefix `__Host-`. Expires all other cookies of the session.
 */
export function keepSession(
  reply: FastifyReply,
  session: { readonly cookies: SessionCookies; readonly value: string; readonly maxAge: number },
): void {
  const { cookies, value, maxAge } = session
  const { name, basePath } = cookies
  const isBound = basePath === '' && isHttps(reply.request)
  const kept = { name: isBound ? HOST_PREFIX + name : name, path: basePath || '/' }
  for (const other of cookiesOf(cookies)) {
    if (other.name !== kept.name || other.path !== kept.path) forget(reply, other)
  }
  void reply.setCookie(kept.name, value, { ...attributesOf(reply, kept), maxAge })
}

/** Can't expire domain cookies or those of unlisted paths: browsers delete only exact matches. */
export function forgetSession(reply: FastifyReply, cookies: SessionCookies): void {
  for (const cookie of cookiesOf(cookies)) forget(reply, cookie)
}

interface CookieKey {
  readonly name: string
  readonly path: string
}

/** Includes the paths above the base path, whose cookies browsers send too. */
function cookiesOf({ name, basePath, pathsBelow }: SessionCookies): readonly CookieKey[] {
  const above = basePath.split('/').map((_part, at, parts) => parts.slice(0, at + 1).join('/'))
  const paths = [...above.map((path) => path || '/'), ...pathsBelow.map((path) => basePath + path)]
  return [{ name: HOST_PREFIX + name, path: '/' }, ...paths.map((path) => ({ name, path }))]
}

function forget(reply: FastifyReply, cookie: CookieKey): void {
  void reply.clearCookie(cookie.name, attributesOf(reply, cookie))
}

function attributesOf({ request }: FastifyReply, { name, path }: CookieKey) {
  const secure = name.startsWith(HOST_PREFIX) || isHttps(request)
  return { path, secure, httpOnly: true, sameSite: 'strict' } as const
}

/** `Origin` reveals HTTPS where a proxy that is not trusted terminates TLS. */
export function isHttps(request: FastifyRequest): boolean {
  return schemeOf(request) === 'https' || request.headers.origin?.startsWith('https://') === true
}

/**
 * The distinct values of the cookies `name` and `__Host-` + `name`. Over HTTPS the latter decides alone: no subdomain
 * and no page without TLS can set it to lock the user out. Over HTTP, any port of localhost can set both. HTTPS that no
 * trusted proxy reports counts as HTTP.
 */
export function shownValues(request: FastifyRequest, name: string): readonly string[] {
  const { headers, server } = request
  const ofHost = new Set<string>()
  const ofName = new Set<string>()
  const isShown = headers.cookie?.includes(name) === true
  const pairs = (isShown ? (headers.cookie ?? '').split(';') : []).filter((pair) =>
    pair.includes(name),
  )
  if (pairs.length > MAX_SHOWN) return pairs.slice(0, MAX_SHOWN)
  // Pair by pair: of a whole header the parser only returns the first cookie of a name.
  for (const pair of pairs) {
    const cookies = server.parseCookie(pair)
    const bound = cookies[HOST_PREFIX + name]
    const plain = cookies[name]
    if (bound !== undefined) ofHost.add(bound)
    if (plain !== undefined) ofName.add(plain)
  }
  if (ofHost.size > 0 && schemeOf(request) === 'https') return [...ofHost]
  return [...new Set([...ofHost, ...ofName])]
}

/** A browser sends one for each path. More are taken for different ones unparsed, since a head has room for 1,000. */
const MAX_SHOWN = 32

/** Browsers accept such a cookie only from the host itself, with `Secure`, for `/`. */
const HOST_PREFIX = '__Host-'
