import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isByteSize, parseByteSize } from '../core/byte-size.ts'
import { parseDuration } from '../core/duration.ts'
import { messageOf } from '../core/errors.ts'
import { isPortNumber } from '../core/port-number.ts'
import { httpUrlOf, parsePostgresUrl } from './urls.ts'
import { WEBHOOK_EVENTS, type WebhookEvent } from '../core/webhooks/webhook-events.ts'

// Each parser throws an `Error` whose message continues the setting's name: `PORT: must be ...`.

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

const LOG_FORMATS = ['auto', 'json', 'pretty'] as const

/** `auto` is `pretty` on a terminal, else `json`. */
export type LogFormat = (typeof LOG_FORMATS)[number]

export function parseObjectStore(
  text: string,
): { kind: 'file'; directory: string } | { kind: 's3'; bucket: string } {
  const [, scheme, rest] = /^(file|s3):(.+)$/.exec(text) ?? []
  if (scheme === 'file' && rest !== undefined) return { kind: 'file', directory: resolve(rest) }
  const [, bucket] = /^\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(rest ?? '') ?? []
  if (bucket?.endsWith('--x-s3') === true) {
    throw new Error('must be a general purpose bucket; directory buckets are not supported')
  }
  if (bucket !== undefined) return { kind: 's3', bucket }
  throw new Error(
    'must be file:<folder> or s3://<bucket>; a bucket name has 3 to 63 characters from a-z, 0-9, "." and "-"',
  )
}

export type DatabaseConfig =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function parseDatabase(text: string): DatabaseConfig {
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: 'postgres', url: parsePostgresUrl(text) }
  const [, file] = /^sqlite:(.+)/s.exec(text) ?? []
  if (file !== undefined) return { kind: 'sqlite', file: resolve(file) }
  throw new Error('must be sqlite:<file> or postgres://<user>:<password>@<host>/<database>')
}

export function parsePort(text: string): number {
  if (isPortNumber(text)) return Number(text)
  throw new Error('must be a port number from 0 (any free port) to 65535')
}

/** Returns `undefined` for an empty text. Its errors do not repeat the secret. */
export function parseHeaderToken(text: string): string | undefined {
  if (text === '') return undefined
  if (/^[!-~]{16,}$/.test(text)) return text
  throw new Error('must be at least 16 printable ASCII characters without spaces')
}

/** Returns `undefined` for an empty text. */
export const parseOptional = (text: string): string | undefined => text || undefined

export function parseCount(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count
  throw new Error('must be a whole number of at least 0')
}

interface Durations {
  readonly least: string
  readonly most: string
  readonly examples: string
}

function parseDurationOf({ least, most, examples }: Durations, text: string): number {
  const ms = parseDuration(text)
  if (ms >= parseDuration(least) && ms <= parseDuration(most)) return ms
  throw new Error(`must be a duration from ${least} to ${most}, such as ${examples}`)
}

/** Below 10 minutes, a download could lose its object between finding and opening it. */
export function parseGarbageDelay(text: string): number {
  return parseDurationOf({ least: '10min', most: '3650d', examples: '90min, 24h or 7d' }, text)
}

/** At most 7 days, because object stores remove unfinished uploads after about that time. */
export function parseUploadLifetime(text: string): number {
  return parseDurationOf({ least: '1h', most: '7d', examples: '12h or 3d' }, text)
}

export function parseEventLifetime(text: string): number {
  return parseDurationOf({ least: '1h', most: '366d', examples: '12h or 7d' }, text)
}

/** 0 for no history. */
export function parseHistoryLifetime(text: string): number {
  if (text === '0') return 0
  return parseDurationOf({ least: '1h', most: '3650d', examples: '12h or 30d, or 0' }, text)
}

/** `undefined` for 0: without a limit. */
export function parseMaxLifetime(text: string): number | undefined {
  if (text === '0') return undefined
  return parseDurationOf({ least: '1min', most: '3650d', examples: '12h or 30d, or 0' }, text)
}

export function parseHistoryShare(text: string): number {
  const share = parseCount(text)
  if (share <= 100) return share
  throw new Error('must be a whole number of at most 100')
}

export function parsePositiveCount(text: string): number {
  const count = parseCount(text)
  if (count > 0) return count
  throw new Error('must be a whole number of at least 1')
}

export function parseBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new Error('must be true or false')
}

function parseList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

export function parseProxies(text: string): readonly string[] {
  const proxies = parseList(text)
  for (const proxy of proxies) {
    const [address = '', length = '0', another] = proxy.split('/')
    const bits = isIP(address) === 6 ? 128 : 32
    if (
      isIP(address) === 0 ||
      // It would be ignored: addresses are compared without their zone.
      address.includes('%') ||
      !/^(?:0|[1-9]\d{0,2})$/.test(length) ||
      Number(length) > bits ||
      another !== undefined
    ) {
      throw new Error(`"${proxy}" is not an IP address or CIDR range, such as ::1 or 10.0.0.0/8`)
    }
  }
  return proxies
}

/** Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export function parseWebhookSecrets(text: string): readonly Buffer[] {
  return text
    .split(' ')
    .filter((secret) => secret !== '')
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
      const isKey = secret.startsWith('whsec_') && key.length >= 24 && key.length <= 64
      if (isKey && `whsec_${key.toString('base64')}` === secret) return key
      throw new Error(
        'must be "whsec_" and 24 to 64 random bytes in base64, such as from: ' +
          'echo "whsec_$(openssl rand -base64 32)"; two or more, separated by spaces, while you rotate it',
      )
    })
}

export function parseWebhookEvents(text: string): ReadonlySet<WebhookEvent> {
  return new Set(parseList(text).map((type) => parseOneOf(WEBHOOK_EVENTS, type)))
}

export function parseOrigins(text: string): readonly string[] {
  const origins = parseList(text)
  for (const origin of origins) {
    if (httpUrlOf(origin)?.origin !== origin) {
      throw new Error('must be origins without a path, such as https://app.example.com')
    }
  }
  return origins
}

export const parseLogLevel = (text: string): LogLevel => parseOneOf(LOG_LEVELS, text)

export const parseLogFormat = (text: string): LogFormat => parseOneOf(LOG_FORMATS, text)

export function parseOneOf<const W extends string>(words: readonly W[], text: string): W {
  const word = words.find((known) => known === text)
  if (word !== undefined) return word
  throw new Error(`must be one of ${words.join(', ')}`)
}

export function parseDeviceModels(text: string): ReadonlyMap<string, number> {
  const models = parseJson(text)
  if (typeof models !== 'object' || models === null || Array.isArray(models)) {
    throw new Error(
      'must be a JSON object that maps models to bytes, such as {"camera-2": "20GiB"}',
    )
  }
  return new Map(Object.entries(models).map(([model, bytes]) => [model, bytesOf(model, bytes)]))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`must be JSON, such as {"camera-2": "20GiB"} (${messageOf(error)})`, {
      cause: error,
    })
  }
}

function bytesOf(model: string, value: unknown): number {
  if (isByteSize(value)) return value
  try {
    return parseByteSize(typeof value === 'string' ? value : '')
  } catch (error) {
    throw new Error(
      `${JSON.stringify(model)} must be a number of bytes, or a size such as "20GiB"`,
      {
        cause: error,
      },
    )
  }
}
