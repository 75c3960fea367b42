import { join, resolve } from 'node:path'
import { parseByteSize } from '../core/byte-size.ts'
import { WEBHOOK_EVENTS, type WebhookEvent } from '../core/webhooks/webhook-events.ts'
import { parseDeviceShare } from '../core/quota/device-share.ts'
import { smallestBudget } from '../core/memory/upload-memory.ts'
import { partSizeFor } from '../object-store/s3/part-size.ts'
import { readBackups } from './backups.ts'
import { readBrand } from './brand.ts'
import { createReader, type Environment, type Reader } from './reader.ts'
import { readTraces } from './tracing.ts'
import { isDefaultCredential } from './default-credentials.ts'
import {
  parseBoolean,
  parseCount,
  parseDatabase,
  parseDeviceModels,
  parseEventLifetime,
  parseGarbageDelay,
  parseHistoryLifetime,
  parseHistoryShare,
  parseHeaderToken,
  parseLogFormat,
  parseLogLevel,
  parseMaxLifetime,
  parseObjectStore,
  parseOptional,
  parseOrigins,
  parsePort,
  parsePositiveCount,
  parseProxies,
  parseUploadLifetime,
  parseWebhookEvents,
  parseWebhookSecrets,
} from './parsers.ts'
import { isLoopback, parseBasePath, parsePublicEndpoint, parsePublicUrl, parseUrl } from './urls.ts'

/** docs/configuration.md explains each setting. */
export type Config = Readonly<ReturnType<typeof readSettings>>

export interface JwtConfig {
  readonly jwksUrl: string
  readonly issuer: string
  readonly audience: string
  readonly createsUsers: boolean
  /** The claim that names the user. */
  readonly userClaim: string
  /** The claim with the scope. */
  readonly scopeClaim: string | undefined
}

export interface WebhookConfig {
  readonly url: string
  /** Keys of 24 to 64 bytes. */
  readonly secrets: readonly Buffer[]
  readonly events: ReadonlySet<WebhookEvent>
}

export type ObjectStoreConfig =
  | { readonly kind: 'file'; readonly directory: string }
  | (S3Settings & {
      readonly kind: 's3'
      readonly bucket: string
      /** `undefined`: the service sends all contents itself. */
      readonly redirect: RedirectConfig | undefined
    })

/** Downloads of larger files are redirected to the object store. */
export interface RedirectConfig {
  readonly aboveBytes: number
  /** The store's for clients; `undefined`: that of AWS. */
  readonly endpoint: string | undefined
}

export interface S3Settings {
  readonly region: string
  readonly endpoint: string | undefined
  readonly forcePathStyle: boolean
  readonly credentials: { accessKeyId: string; secretAccessKey: string } | undefined
}

export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(['Invalid settings:', ...faults.map((fault) => `  ${fault}`)].join('\n'))
    this.name = 'ConfigError'
  }
}

/** Empty variables count as unset; `<NAME>_FILE` names a file that holds the value. Throws `ConfigError`. */
export function readConfig(environment: Environment): Config {
  const reader = createReader(environment)
  const settings = readSettings(reader)
  const least = smallestBudget(partSizeOf(settings))
  if (settings.uploadMemory < least) {
    const size = `${Math.ceil(least / 2 ** 20)}MiB`
    reader.faults.push(`UPLOAD_MEMORY: must be at least ${size} for this MAX_FILE_SIZE`)
  }
  if (reader.faults.length > 0) throw new ConfigError(reader.faults)
  return Object.freeze(settings)
}

/** Of all settings, without `_FILE`. */
export function settingNames(): ReadonlySet<string> {
  // Local files need none of the settings of S3.
  const reader = createReader({ OBJECT_STORE: 's3://bucket' })
  readSettings(reader)
  return new Set(reader.inForce().map(({ name }) => name))
}

/** Works without an S3 object store in the settings. Throws `ConfigError`. */
export function readS3Settings(environment: Environment): S3Settings {
  const reader = createReader(environment)
  const settings = readS3(reader)
  if (reader.faults.length > 0) throw new ConfigError(reader.faults)
  return settings
}

function readSettings(reader: Reader) {
  const { shown, shownUrl } = reader
  const dataDir = resolve(shown('DATA_DIR', './data', String))
  const databaseFile = join(dataDir, 'database.sqlite')
  const database = shownUrl('DATABASE_URL', `sqlite:${databaseFile}`, parseDatabase)
  const objectStore = readObjectStore(reader, dataDir)
  return {
    host: shown('HOST', '127.0.0.1', String),
    port: shown('PORT', '3000', parsePort),
    reusePort: shown('REUSE_PORT', 'false', parseBoolean),
    basePath: shown('BASE_PATH', '', parseBasePath),
    /** `undefined`: clients reach the service at the address that their requests name. */
    publicUrl: shown('PUBLIC_URL', '', parsePublicUrl),
    dataDir,
    database,
    objectStore,
    backups: readBackups(reader, {
      dataDir,
      databaseFile: database.kind === 'sqlite' ? database.file : undefined,
      objects: objectStore.kind === 'file' ? objectStore.directory : undefined,
    }),
    baseCapacity: shown('BASE_CAPACITY', '1GiB', parseByteSize),
    deviceCapacity: shown('DEVICE_CAPACITY', '5GiB', parseByteSize),
    deviceModels: shown('DEVICE_MODELS', '{}', parseDeviceModels),
    deviceShare: shown('DEVICE_SHARE', 'all', parseDeviceShare),
    maxFileSize: shown('MAX_FILE_SIZE', '5GiB', parseByteSize),
    maxFiles: shown('MAX_FILES', '100000', parseCount),
    uploadMemory: shown('UPLOAD_MEMORY', '256MiB', parseByteSize),
    /** Bytes that uploads leave free on local disks. */
    minFreeSpace: shown('MIN_FREE_SPACE', '64MiB', parseByteSize),
    garbageDelayMs: shown('GARBAGE_DELAY', '10min', parseGarbageDelay),
    /** 0 keeps no history. */
    historyLifetimeMs: shown('HISTORY_LIFETIME', '30d', parseHistoryLifetime),
    /** In per cent of the capacity. */
    historyShare: shown('HISTORY_SHARE', '50', parseHistoryShare),
    /** `undefined`: links may live for ever. */
    maxLinkLifeMs: shown('MAX_LINK_LIFETIME', '0', parseMaxLifetime),
    /** `undefined`: tokens that users make may live for ever. */
    maxTokenLifeMs: shown('MAX_TOKEN_LIFETIME', '0', parseMaxLifetime),
    /** Of a drop link, by default and at most; 0 is no limit. */
    dropMaxBytes: shown('DROP_MAX_BYTES', '1GiB', parseByteSize),
    dropMaxFiles: shown('DROP_MAX_FILES', '1000', parseCount),
    maxUploads: shown('MAX_UPLOADS', '100', parsePositiveCount),
    maxUnfinished: shown('MAX_UNFINISHED_UPLOADS', '100', parseCount),
    lifetimeMs: shown('UPLOAD_LIFETIME', '24h', parseUploadLifetime),
    eventLifetimeMs: shown('EVENT_LIFETIME', '7d', parseEventLifetime),
    maxDownloadsPerUser: shown('MAX_DOWNLOADS_PER_USER', '100', parsePositiveCount),
    maxDownloads: shown('MAX_DOWNLOADS', '1000', parsePositiveCount),
    allowedOrigins: shown('ALLOWED_ORIGINS', '', parseOrigins),
    apiDocs: shown('API_DOCS', 'true', parseBoolean),
    webPage: shown('WEB_PAGE', 'true', parseBoolean),
    brand: readBrand(reader),
    trustedProxies: shown('TRUST_PROXY', '', parseProxies),
    jwt: readJwt(reader),
    /** `undefined`: no webhooks are sent. */
    webhooks: readWebhooks(reader),
    logLevel: shown('LOG_LEVEL', 'info', parseLogLevel),
    logFormat: shown('LOG_FORMAT', 'auto', parseLogFormat),
    traces: readTraces(reader),
    /** `undefined`: no admin listener. */
    admin: readAdmin(reader),
    /** `undefined`: the metrics are on the admin listener only. */
    metrics: readMetrics(reader),
    /** As operators see them. The last member: by now, all are read. */
    settings: reader.inForce(),
  }
}

/** Bytes of one upload that the object store gathers before it sends them; 0 if it streams. */
export function partSizeOf({ objectStore, maxFileSize }: Config): number {
  return objectStore.kind === 's3' ? partSizeFor(maxFileSize) : 0
}

function readAdmin({ setting, shown }: Reader) {
  const host = shown('ADMIN_HOST', '127.0.0.1', String)
  const port = shown('ADMIN_PORT', '3001', parsePort)
  const token = setting('ADMIN_TOKEN', '', parseHeaderToken)
  return token === undefined ? undefined : { host, port, token }
}

function readMetrics({ shown }: Reader) {
  const host = shown('METRICS_HOST', '127.0.0.1', String)
  const port = shown('METRICS_PORT', '', (text) => (text === '' ? undefined : parsePort(text)))
  return port === undefined ? undefined : { host, port }
}

function readObjectStore(reader: Reader, dataDir: string): ObjectStoreConfig {
  const url = reader.shown('OBJECT_STORE', `file:${join(dataDir, 'objects')}`, parseObjectStore)
  const redirect = readRedirect(reader)
  if (url.kind === 'file') {
    if (redirect !== undefined) reader.faults.push(REDIRECT_NEEDS_S3)
    return url
  }
  const { region, endpoint, forcePathStyle, credentials } = readS3(reader)
  if (redirect !== undefined && endpoint !== undefined && redirect.endpoint === undefined) {
    reader.faults.push(REDIRECT_NEEDS_ENDPOINT)
  }
  const { bucket } = url
  return { kind: 's3', bucket, region, endpoint, forcePathStyle, credentials, redirect }
}

const REDIRECT_NEEDS_S3 =
  'DOWNLOAD_REDIRECT_ABOVE: needs OBJECT_STORE=s3://<bucket>, since local files have no URL of their own'

const REDIRECT_NEEDS_ENDPOINT =
  'S3_PUBLIC_ENDPOINT: is missing; with AWS_ENDPOINT_URL_S3, DOWNLOAD_REDIRECT_ABOVE needs it'

function readRedirect({ shown, shownUrl }: Reader): RedirectConfig | undefined {
  const aboveBytes = shown('DOWNLOAD_REDIRECT_ABOVE', '', (text) =>
    text === '' ? undefined : parseByteSize(text),
  )
  const endpoint = shownUrl('S3_PUBLIC_ENDPOINT', '', parsePublicEndpoint)
  return aboveBytes === undefined ? undefined : { aboveBytes, endpoint }
}

function readS3({ shown, shownUrl, optional, faults }: Reader): S3Settings {
  const [forS3, forAll] = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].map((name) =>
    shownUrl(name, '', parseUrl),
  )
  const endpoint = forS3 ?? forAll
  const accessKeyId = optional('AWS_ACCESS_KEY_ID')
  const secretAccessKey = optional('AWS_SECRET_ACCESS_KEY')
  if (isDefaultCredential(accessKeyId, secretAccessKey) && !isLoopback(endpoint)) {
    faults.push(
      'AWS_SECRET_ACCESS_KEY: is a publicly known default; use another key, or a server on a loopback address',
    )
  }
  const isSessionBound = optional('AWS_SESSION_TOKEN') !== undefined
  return {
    region: shown('AWS_REGION', 'us-east-1', String),
    endpoint,
    // Other servers seldom have a DNS name per bucket.
    forcePathStyle: shown('S3_FORCE_PATH_STYLE', String(endpoint !== undefined), parseBoolean),
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined || isSessionBound
        ? undefined
        : { accessKeyId, secretAccessKey },
  }
}

function readWebhooks({
  setting,
  shown,
  shownUrl,
  optional,
  faults,
}: Reader): WebhookConfig | undefined {
  const url = shownUrl('WEBHOOK_URL', '', parseUrl)
  const secrets = setting('WEBHOOK_SECRET', '', parseWebhookSecrets)
  const events = shown('WEBHOOK_EVENTS', WEBHOOK_EVENTS.join(','), parseWebhookEvents)
  const [hasUrl, hasSecret] = ['WEBHOOK_URL', 'WEBHOOK_SECRET'].map(
    (name) => optional(name) !== undefined,
  )
  if (hasUrl && !hasSecret) faults.push('WEBHOOK_SECRET: is missing; WEBHOOK_URL needs it')
  if (hasSecret && !hasUrl) faults.push('WEBHOOK_URL: is missing; WEBHOOK_SECRET needs it')
  return url !== undefined && secrets.length > 0 ? { url, secrets, events } : undefined
}

function readJwt({ shown, shownUrl, optional, faults }: Reader): JwtConfig | undefined {
  const names = ['JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const
  const createsUsers = shown('JWT_CREATE_USERS', 'false', parseBoolean)
  const jwksUrl = shownUrl('JWT_JWKS_URL', '', parseUrl)
  const issuer = shown('JWT_ISSUER', '', parseOptional)
  const audience = shown('JWT_AUDIENCE', '', parseOptional)
  const userClaim = shown('JWT_USER_CLAIM', 'sub', String)
  const scopeClaim = shown('JWT_SCOPE_CLAIM', '', parseOptional)
  const missing = names.filter((name) => optional(name) === undefined)
  if (missing.length === 0 || (missing.length === names.length && !createsUsers)) {
    return jwksUrl === undefined || issuer === undefined || audience === undefined
      ? undefined
      : { jwksUrl, issuer, audience, createsUsers, userClaim, scopeClaim }
  }
  faults.push(
    ...missing.map((name) => `${name}: is missing; set all of ${names.join(', ')}, or none`),
  )
  return undefined
}
