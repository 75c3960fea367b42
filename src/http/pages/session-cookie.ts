import type { FastifyReply, FastifyRequest } from 'fastify'
import { HOST_PREFIX } from '../server/request-head.ts'

export interface SessionCookies {
  readonly name: string
  /** The prefix of every path that the session is for; empty for none. */
  readonly basePath: string
  /** Paths below it at which a page of another port may have planted a cookie that browsers send first. */
  readonly pathsBelow: readonly string[]
}

export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * Has the browser keep `value` for `maxAge` seconds: for no script, for no other site, and over HTTPS by HTTPS alone and,
 * without a base path, under the name that no other host can set. All other cookies of the session are forgotten.
 */
export function keepSession(
  { request, reply }: Exchange,
  cookies: SessionCookies & { readonly value: string; readonly maxAge: number },
): void {
  const { name, basePath, value, maxAge } = cookies
  const isBound = basePath === '' && isHttps(request)
  const kept = { name: isBound ? HOST_PREFIX + name : name, path: basePath || '/' }
  for (const other of cookiesOf(cookies)) {
    if (other.name !== kept.name || other.path !== kept.path) forget({ request, reply }, other)
  }
  void reply.setCookie(kept.name, value, { ...attributesOf(request, kept), maxAge })
}

/**
 * Has the browser forget the session, and whatever else it sends under its names. Out of reach are a cookie of a whole
 * domain and one of a path that is not listed: browsers forget only what is named exactly.
 */
export function forgetSession(exchange: Exchange, cookies: SessionCookies): void {
  for (const cookie of cookiesOf(cookies)) forget(exchange, cookie)
}

interface CookieKey {
  readonly name: string
  readonly path: string
}

/** All that a browser may have of a session: of the paths above the base path too, which it sends as well. */
function cookiesOf({ name, basePath, pathsBelow }: SessionCookies): readonly CookieKey[] {
  const above = basePath.split('/').map((_part, at, parts) => parts.slice(0, at + 1).join('/'))
  const paths = [...above.map((path) => path || '/'), ...pathsBelow.map((path) => basePath + path)]
  return [{ name: HOST_PREFIX + name, path: '/' }, ...paths.map((path) => ({ name, path }))]
}

function forget({ request, reply }: Exchange, cookie: CookieKey): void {
  void reply.clearCookie(cookie.name, attributesOf(request, cookie))
}

function attributesOf(request: FastifyRequest, { name, path }: CookieKey) {
  const secure = name.startsWith(HOST_PREFIX) || isHttps(request)
  return { path, secure, httpOnly: true, sameSite: 'strict' } as const
}

/** As a proxy that is trusted says, or the browser itself, whose page came by it; else as the connection is. */
function isHttps({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers.origin?.startsWith('https://') === true
}
