import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'

/** How a browser is to keep a token: for no script, for no other site, and by HTTPS alone where the request came by it. */
export function sessionCookie(request: FastifyRequest, path: string): CookieSerializeOptions {
  return { path, httpOnly: true, sameSite: 'strict', secure: isHttps(request) }
}

/** As a proxy that is trusted says, or the browser itself, whose page came by it; else as the connection is. */
function isHttps({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers.origin?.startsWith('https://') === true
}
