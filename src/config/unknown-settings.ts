import leven from 'leven'
import type { EnvFile } from './env-files.ts'
import type { Environment } from './reader.ts'

export interface Unknown {
  readonly environment: Environment
  /** From which some of its variables are. */
  readonly files: readonly EnvFile[]
  /** Of all settings, without `_FILE`. */
  readonly settings: ReadonlySet<string>
}

/**
 * One warning for each name that is probably meant to be a setting and is none: each in a file, and those in the rest
 * of the environment that resemble a setting.
 */
export function unknownSettings({ environment, files, settings }: Unknown): readonly string[] {
  const known = [...settings].flatMap((name) => [name, `${name}_FILE`])
  const isUnknown = (name: string): boolean => !known.includes(name) && !OF_COMPOSE.has(name)
  const inFiles = new Set(files.flatMap(({ names }) => names))
  const places = [
    ...files.map(({ path, names }) => ({ place: ` in ${path}`, names })),
    { place: '', names: Object.keys(environment).filter((name) => !inFiles.has(name)) },
  ]
  return places.flatMap(({ place, names }) =>
    names.filter(isUnknown).flatMap((name) => {
      const meant = closest(name, known)
      if (meant !== undefined) return [`${name}${place} is no setting: is ${meant} meant?`]
      return place === '' || isOfOthers(name) ? [] : [`${name}${place} is no setting`]
    }),
  )
}

/** The setting that is misspelt as this name. */
function closest(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((setting) => ({
    setting,
    distance: leven(name.toUpperCase(), setting),
    limit: isOfOthers(name) ? 1 : Math.floor(setting.length / LETTERS_PER_MISTAKE),
  }))
  const near = distances.filter(({ distance, limit }) => distance <= limit)
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.setting
}

/** So that a name of four letters, such as `HOST`, resembles no other. */
const LETTERS_PER_MISTAKE = 5

/** Libraries and Node.js read more variables than the service does, some with names like its settings. */
function isOfOthers(name: string): boolean {
  return /^(?:AWS|OTEL|PG|NODE|UV|COMPOSE|DOCKER)_?/.test(name)
}

/** What docker-compose.yml, whose settings are in the same file, reads itself. */
const OF_COMPOSE = new Set([
  'POSTGRES_PASSWORD',
  'MINIO_ROOT_PASSWORD',
  'S3_SECRET_KEY',
  'BACKUP_S3',
  'SERVICE_PORTS',
  'SERVICE_REPLICAS',
  'PROXY_PORT',
  'PROMETHEUS_PORT',
  'GRAFANA_PORT',
  'REVISION',
])
