import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { type ClientAddress, parseClientAddress } from '../../core/auth/client-address.ts'

/**
 * The address that a request comes from: what a trusted proxy says in `X-Forwarded-For`, as long as that is an IP
 * address, else the address of the connection. A text that is none, such as `unknown` or `"`, would be one client for
 * all that send it, and would stand in the log as a client wrote it.
 */
export function addressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? 'unknown') : ip
}

/** The client that a request counts for where guesses and downloads are counted by address. */
export function clientAddressOf(request: Pick<FastifyRequest, 'ip' | 'socket'>): ClientAddress {
  return parseClientAddress(addressOf(request))
}
