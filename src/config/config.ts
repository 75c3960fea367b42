import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseByteSize } from '../core/byte-size.ts'
import { messageOf } from '../core/errors.ts'
import { smallestBudget } from '../core/uploads/memory/budget.ts'
import { partSizeFor } from '../object-store/s3/parts/part-size.ts'
import { readTraces, type TraceConfig } from './tracing.ts'
import { isLoopback, isDefaultCredential } from './default-credentials.ts'
import {
  type LogFormat,
  type LogLevel,
  parseBasePath,
  parseBoolean,
  parseCount,
  parseDatabase,
  parseDeviceModels,
  parseGarbageDelay,
  parseHeaderToken,
  parseLogFormat,
  parseLogLevel,
  parseObjectStore,
  parseOrigins,
  parsePort,
  parsePositiveCount,
  parseProxies,
  parseUrl,
} from './parsers.ts'

/** Every setting of the service, checked. docs/configuration.md says what each is for. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly basePath: string
  /** The folder of what is embedded, an absolute path. */
  readonly dataDir: string
  readonly databaseUrl: string
  readonly objectStore: ObjectStoreConfig
  readonly baseCapacity: number
  readonly deviceCapacity: number
  readonly deviceModels: ReadonlyMap<string, number>
  readonly maxFileSize: number
  readonly maxFiles: number
  readonly uploadMemory: number
  /** Bytes that uploads leave free where this machine keeps the database and the objects. */
  readonly minFreeSpace: number
  /** How long the objects of replaced and deleted files are kept, in milliseconds. */
  readonly garbageDelayMs: number
  readonly maxUploads: number
  readonly maxDownloadsPerUser: number
  readonly maxDownloads: number
  readonly allowedOrigins: readonly string[]
  /** Whether the public listener describes itself. */
  readonly apiDocs: boolean
  /** Whether the user's page and its session are served. */
  readonly webPage: boolean
  readonly trustedProxies: readonly string[]
  /** The identity provider whose JWTs are access tokens too, if there is one. */
  readonly jwt: JwtConfig | undefined
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  /** `undefined`: nothing is traced. */
  readonly traces: TraceConfig | undefined
  /** `undefined`: there is no admin listener. */
  readonly admin: AdminConfig | undefined
  /** `undefined`: the metrics are on the admin listener alone. */
  readonly metrics: MetricsConfig | undefined
}

export interface MetricsConfig {
  readonly host: string
  readonly port: number
}

export interface AdminConfig {
  readonly host: string
  readonly port: number
  readonly token: string
}

export interface JwtConfig {
  readonly jwksUrl: string
  readonly issuer: string
  readonly audience: string
  readonly createsUsers: boolean
}

export type ObjectStoreConfig =
  | { readonly kind: 'file'; readonly directory: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      readonly region: string
      readonly endpoint: string | undefined
      readonly forcePathStyle: boolean
      /** `undefined` leaves it to the AWS SDK to find credentials. */
      readonly credentials: { accessKeyId: string; secretAccessKey: string } | undefined
    }

type Environment = Readonly<Record<string, string | undefined>>

/** Thrown when settings are wrong; its message lists every fault, one a line. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(['Some settings are not valid:', ...faults.map((fault) => `  ${fault}`)].join('\n'))
    this.name = 'ConfigError'
  }
}

/**
 * Reads the settings from environment variables; an empty one counts as unset, and a secret may be given as the
 * path of a file in a variable that ends in `_FILE`. Throws a `ConfigError` with all that is wrong.
 */
export function readConfig(environment: Environment): Config {
  const reader = createReader(environment)
  const { setting } = reader
  const dataDir = resolve(setting('DATA_DIR', './data', String))
  const config: Config = {
    host: setting('HOST', '127.0.0.1', String),
    port: setting('PORT', '3000', parsePort),
    basePath: setting('BASE_PATH', '', parseBasePath),
    dataDir,
    databaseUrl: setting(
      'DATABASE_URL',
      `sqlite:${join(dataDir, 'database.sqlite')}`,
      parseDatabase,
    ),
    objectStore: readObjectStore(reader, dataDir),
    baseCapacity: setting('BASE_CAPACITY', '1GiB', parseByteSize),
    deviceCapacity: setting('DEVICE_CAPACITY', '5GiB', parseByteSize),
    deviceModels: setting('DEVICE_MODELS', '{}', parseDeviceModels),
    maxFileSize: setting('MAX_FILE_SIZE', '5GiB', parseByteSize),
    maxFiles: setting('MAX_FILES', '100000', parseCount),
    uploadMemory: setting('UPLOAD_MEMORY', '256MiB', parseByteSize),
    minFreeSpace: setting('MIN_FREE_SPACE', '64MiB', parseByteSize),
    garbageDelayMs: setting('GARBAGE_DELAY', '10min', parseGarbageDelay),
    maxUploads: setting('MAX_UPLOADS', '100', parsePositiveCount),
    maxDownloadsPerUser: setting('MAX_DOWNLOADS_PER_USER', '100', parsePositiveCount),
    maxDownloads: setting('MAX_DOWNLOADS', '1000', parsePositiveCount),
    allowedOrigins: setting('ALLOWED_ORIGINS', '', parseOrigins),
    apiDocs: setting('API_DOCS', 'true', parseBoolean),
    webPage: setting('WEB_PAGE', 'true', parseBoolean),
    trustedProxies: setting('TRUST_PROXY', '', parseProxies),
    jwt: readJwt(reader),
    logLevel: setting('LOG_LEVEL', 'info', parseLogLevel),
    logFormat: setting('LOG_FORMAT', 'auto', parseLogFormat),
    traces: readTraces(reader),
    admin: readAdmin(reader),
    metrics: readMetrics(reader),
  }
  const least = smallestBudget(partSizeOf(config))
  if (config.uploadMemory < least) {
    reader.faults.push(
      `UPLOAD_MEMORY: write at least ${Math.ceil(least / 2 ** 20)}MiB, which MAX_FILE_SIZE needs`,
    )
  }
  if (reader.faults.length > 0) throw new ConfigError(reader.faults)
  return Object.freeze(config)
}

/** The most that the object store gathers of one upload before it sends it on, in bytes. */
export function partSizeOf(config: Pick<Config, 'objectStore' | 'maxFileSize'>): number {
  return config.objectStore.kind === 's3' ? partSizeFor(config.maxFileSize) : 0
}

interface Reader {
  readonly faults: string[]
  /** The parsed value of a setting; a fault is noted and the default stands in, so that all faults are found. */
  readonly setting: <T>(name: string, fallback: string, parse: (text: string) => T) => T
  readonly optional: (name: string) => string | undefined
}

function createReader(environment: Environment): Reader {
  const faults: string[] = []

  function optional(name: string): string | undefined {
    const path = environment[`${name}_FILE`]
    if (path === undefined || path === '') return environment[name] || undefined
    try {
      return readFileSync(path, 'utf8').trim() || undefined
    } catch (error) {
      faults.push(`${name}_FILE: ${messageOf(error)}`)
      return undefined
    }
  }

  function setting<T>(name: string, fallback: string, parse: (text: string) => T): T {
    const text = optional(name)
    if (text === undefined) return parse(fallback)
    try {
      return parse(text)
    } catch (error) {
      faults.push(`${name}: ${messageOf(error)}`)
      return parse(fallback)
    }
  }

  return { faults, setting, optional }
}

function readAdmin({ setting }: Reader): AdminConfig | undefined {
  const host = setting('ADMIN_HOST', '127.0.0.1', String)
  const port = setting('ADMIN_PORT', '3001', parsePort)
  const token = setting('ADMIN_TOKEN', '', parseHeaderToken)
  return token === undefined ? undefined : { host, port, token }
}

function readMetrics({ setting }: Reader): MetricsConfig | undefined {
  const host = setting('METRICS_HOST', '127.0.0.1', String)
  const port = setting('METRICS_PORT', '', (text) => (text === '' ? undefined : parsePort(text)))
  return port === undefined ? undefined : { host, port }
}

function readObjectStore(reader: Reader, dataDir: string): ObjectStoreConfig {
  const { setting, optional, faults } = reader
  const url = setting('OBJECT_STORE', `file:${join(dataDir, 'objects')}`, parseObjectStore)
  if (url.kind === 'file') return url
  const endpoint =
    setting('AWS_ENDPOINT_URL_S3', '', parseUrl) ?? setting('AWS_ENDPOINT_URL', '', parseUrl)
  const accessKeyId = optional('AWS_ACCESS_KEY_ID')
  const secretAccessKey = optional('AWS_SECRET_ACCESS_KEY')
  if (isDefaultCredential(accessKeyId, secretAccessKey) && !isLoopback(endpoint)) {
    faults.push(
      'AWS_SECRET_ACCESS_KEY: everyone knows this one; make up another, or use it with a server on this machine alone',
    )
  }
  const isSessionBound = optional('AWS_SESSION_TOKEN') !== undefined
  return {
    ...url,
    region: setting('AWS_REGION', 'us-east-1', String),
    endpoint,
    // Servers other than AWS seldom have a DNS name for every bucket.
    forcePathStyle: setting('S3_FORCE_PATH_STYLE', String(endpoint !== undefined), parseBoolean),
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined || isSessionBound
        ? undefined
        : { accessKeyId, secretAccessKey },
  }
}

function readJwt({ setting, optional, faults }: Reader): JwtConfig | undefined {
  const names = ['JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const
  const createsUsers = setting('JWT_CREATE_USERS', 'false', parseBoolean)
  const jwksUrl = setting('JWT_JWKS_URL', '', parseUrl)
  const issuer = optional('JWT_ISSUER')
  const audience = optional('JWT_AUDIENCE')
  const missing = names.filter((name) => optional(name) === undefined)
  if (missing.length === 0 || (missing.length === names.length && !createsUsers)) {
    return jwksUrl === undefined || issuer === undefined || audience === undefined
      ? undefined
      : { jwksUrl, issuer, audience, createsUsers }
  }
  faults.push(...missing.map((name) => `${name}: is missing; JWTs need ${names.join(', ')}`))
  return undefined
}
