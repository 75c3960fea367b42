import { type ReadonlySignal, signal } from '@preact/signals'
import type { ServiceAddress } from '../../packages/js/src/client.ts'
import {
  type CloudRepositoryError,
  type ErrorCode,
  isProblem,
  type ProblemOf,
} from '../../packages/js/src/errors.ts'
import { repositoryPath } from '../../packages/js/src/files/get-file.ts'
import { encodeFilePath } from '../../packages/js/src/http/http.ts'

/** How a page reaches the service that it comes from, with the cookie of its session. */
export interface Connection {
  /** Whether the last request of a patient client got a response, other than that the service is unavailable. */
  readonly isConnected: ReadonlySignal<boolean>
  /** Resolves a path against the page's base URL. */
  urlOf(path: string): string
  /** The same against the base URL for everyone, for addresses that the page shows. */
  addressOf(path: string): string
  /** For what the page shows: asks until the service answers, be it that it has failed. */
  readonly patient: PageOptions
  /** For what the user does: asks again for a few seconds. A deletion outlives the page. */
  readonly brief: PageOptions & { readonly fetch: typeof fetch }
  /** For what the page itself repeats: asks once. */
  readonly once: PageOptions
}

type PageOptions = ServiceAddress & { readonly cookies: true }

export interface ConnectionOptions {
  /** The base URL of the page. */
  readonly base: string
  /** That of the service for everyone, without a slash at its end, if it is known. */
  readonly publicUrl?: string | undefined
  /** Called when the service refuses the token of a request, with its `causeOf`. */
  readonly onRefusedToken: (cause: string) => void
}

export function connect({ base, publicUrl, onRefusedToken }: ConnectionOptions): Connection {
  const isConnected = signal(true)

  function notice(error?: CloudRepositoryError): void {
    if (error !== undefined && isTokenCode(error.code)) onRefusedToken(causeOf(error))
  }

  const once = { url: base, cookies: true, retry: { tries: 1 }, onRequestEnd: notice } as const
  return {
    isConnected,
    urlOf: (path) => new URL(path, base).href,
    addressOf: (path) => new URL(path, publicUrl === undefined ? base : `${publicUrl}/`).href,
    once,
    brief: {
      ...once,
      retry: { tries: 3, maxWait: 5 },
      fetch: (url, init) => fetch(url, { ...init, keepalive: init?.method === 'DELETE' }),
    },
    patient: {
      ...once,
      retry: { tries: Infinity, maxWait: 3600, when: ({ status }) => status !== 500 },
      onRequestEnd(error) {
        isConnected.value = error === undefined || !isOutage(error)
        notice(error)
      },
    },
  }
}

/** Those of a proxy whose service does not answer, and of a service that has lost its database or its store. */
const OUTAGES: ReadonlySet<number | undefined> = new Set([502, 503, 504])

function isOutage({ code, status }: CloudRepositoryError): boolean {
  return code === 'connection_lost' || OUTAGES.has(status)
}

const TOKEN_CODES = new Set([
  'access_token_missing',
  'access_token_invalid',
  'user_suspended',
  // For the admin token.
  'unauthorized',
])

export function isTokenCode(code: string): boolean {
  return TOKEN_CODES.has(code)
}

/** The browser has sent two different access tokens. */
export const TWO_TOKENS = 'two_access_tokens'

/** The refusal of the service, or the failure of the network, that an error is. */
export function problemOf(error: unknown): ProblemOf<ErrorCode> | undefined {
  return isProblem(error) ? error.problem : undefined
}

/** The code of an error, or a more specific name for one of its causes; empty for any other error. */
export function causeOf(error: unknown): string {
  if (isProblem(error, 'access_token_invalid') && Number(error.problem.access_tokens) > 1)
    return TWO_TOKENS
  return isProblem(error) ? error.code : ''
}

/** The path of a file, of the caller by default. */
export function filePath(name: string, userId?: string): string {
  return `${repositoryPath(userId)}/${encodeFilePath(name)}`
}

/** One archive of all files of the caller whose names begin with this. */
export function archivePath(prefix: string): string {
  return `users/me/archive?${prefix === '' ? '' : `prefix=${encodeURIComponent(prefix)}`}`
}

/** The first page of a listing. */
export async function firstPage<Page>(listing: {
  pages(): AsyncIterable<Page>
}): Promise<Page | undefined> {
  for await (const page of listing.pages()) return page
  return undefined
}
