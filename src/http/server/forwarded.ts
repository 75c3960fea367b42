import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ClientAddress, parseClientAddress } from '../../core/auth/client-address.ts'
import { isPortNumber } from '../../core/port-number.ts'
import { isHost } from './request-head.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether a trusted proxy has sent the request, so that its `X-Forwarded-*` count. */
    readonly isFromProxy: boolean
  }
}

/** Whether an address, as the socket or `X-Forwarded-For` has it, is that of a trusted proxy. */
export type TrustsProxy = (address: string | undefined) => boolean

/** Takes IP addresses and CIDR ranges. A range of IPv4 includes the IPv4-mapped addresses. */
export function trustOf(proxies: readonly string[]): TrustsProxy {
  if (proxies.length === 0) return () => false
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = familyOf(address)
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return (text) => {
    const address = parseAddress(text)
    return address !== undefined && trusted.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

export function decoratePeer(app: FastifyInstance, trusts: TrustsProxy): void {
  app.decorateRequest('isFromProxy', {
    getter(this: FastifyRequest) {
      return trusts(this.raw.socket.remoteAddress)
    },
  })
}

/** Keeps the UUID in a trusted proxy's `X-Request-Id`. Other requests get a new one: strangers could reuse ids. */
export function requestIds(trusts: TrustsProxy): (request: Sent) => string {
  return ({ headers, socket: { remoteAddress } }) => {
    const given = headers['x-request-id']?.toString().toLowerCase() ?? ''
    return UUID.test(given) && trusts(remoteAddress) ? given : randomUUID()
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Of `IncomingMessage`. */
interface Sent {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * The IP address of an entry of `X-Forwarded-For`, which some gateways write as RFC 7239 does: with a port, in brackets
 * and in quotes. Without the zone of an IPv6 address, which means nothing on another machine, and has no maximum length.
 */
export function parseAddress(text = ''): string | undefined {
  if (isIP(text) === 4) return text
  const [, unquoted = text] = /^"([^"]*)"$/.exec(text) ?? []
  const [, v6, v4, port = '0'] = /^(?:\[([^\]]*)\]|([\d.]+))(?::(\d+))?$/.exec(unquoted) ?? []
  if (!isPortNumber(port)) return undefined
  const [address = ''] = (v6 ?? v4 ?? unquoted).split('%', 1)
  return isIP(address) === 0 ? undefined : address
}

/** Of `FastifyRequest`. */
interface Peer {
  readonly ip: string
  readonly socket: Socket
}

/** If `X-Forwarded-For` names no IP address, that of the proxy: other texts could be shared, and would reach the log. */
export function addressOf({ ip, socket }: Peer): string {
  return parseAddress(ip) ?? parseAddress(socket.remoteAddress) ?? 'unknown'
}

export function clientAddressOf(peer: Peer): ClientAddress {
  return parseClientAddress(addressOf(peer))
}

type Arrived = Pick<FastifyRequest, 'headers' | 'isFromProxy'>

/** The scheme of the client's request: `X-Forwarded-Proto`, else `http`, since the service does not terminate TLS. */
export function schemeOf(request: Arrived): 'http' | 'https' {
  return forwarded(request, 'x-forwarded-proto').toLowerCase() === 'https' ? 'https' : 'http'
}

/** The host of the client's request, and its port if it was sent. */
function hostOf(request: Arrived): string {
  const host = forwarded(request, 'x-forwarded-host')
  return host !== '' && isHost(host) ? host : (request.headers.host ?? '')
}

/** As clients reach the service; `scheme` is that of their request unless given. */
export function originOf(request: Arrived, scheme = schemeOf(request)): string {
  const text = `${scheme}://${hostOf(request)}`
  return parseOrigin(text) ?? text
}

/** In lower case, in brackets if it is an IPv6 address, without a port. */
export function hostnameOf(request: Arrived): string | undefined {
  return URL.parse(originOf(request))?.hostname
}

/** Serialised as browsers do: in lower case, without the default port. `undefined` for what only `URL` takes for one. */
export function parseOrigin(text: string): string | undefined {
  return ORIGIN.test(text) ? URL.parse(text)?.origin : undefined
}

const ORIGIN = /^https?:\/\/[\w.~%!$&'()*+,;=:[\]-]+$/i

/** Each proxy of a chain may append its own value to the client's, which is the first. */
function forwarded({ headers, isFromProxy }: Arrived, name: string): string {
  const value = isFromProxy ? headers[name] : undefined
  const [first = ''] = value?.toString().split(',', 1) ?? []
  return first.trim()
}
