import type { FastifyRequest } from 'fastify'
import { originOf } from './forwarded.ts'

/** Where clients reach the service. */
export interface ServiceAddress {
  /** What each reference to a resource of the service begins with: `PUBLIC_URL`, else `BASE_PATH`, which may be empty. */
  readonly base: string
  /** The prefix of the paths of requests, as they arrive. */
  readonly basePath: string
}

interface AddressSettings {
  /** Without a slash at its end. */
  readonly publicUrl: string | undefined
  readonly basePath: string
}

export function createServiceAddress({ publicUrl, basePath }: AddressSettings): ServiceAddress {
  return { base: publicUrl ?? basePath, basePath }
}

/** The base as a URL: without `PUBLIC_URL`, on the host of the request. */
export function baseUrlOf(request: FastifyRequest, { base }: ServiceAddress): string {
  return URL.canParse(base) ? base : originOf(request) + base
}

/** The prefixes that a browser can have seen in the path of a request: a proxy may remove or replace what it matches. */
export function prefixesOf({ base, basePath }: ServiceAddress): ReadonlySet<string> {
  const publicPath = URL.parse(base)?.pathname.replace(/\/$/, '')
  return new Set([publicPath ?? basePath, basePath])
}

/** The base of the paths of cookies: with two prefixes, cookies for one would not reach the other. */
export function cookieBaseOf(address: ServiceAddress): string {
  return prefixesOf(address).size === 1 ? address.basePath : ''
}
