import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/servers/local-server.ts'
import { docker } from './docker.ts'
import type { Cli } from './client.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export type ServiceName = 'service' | 'postgres' | 'minio'

/** The compose file under a name of its own, on free loopback ports. */
export interface Project {
  readonly name: string
  readonly port: number
  readonly proxyPort: number
  /** Runs `docker compose` with these words and resolves to what it printed. */
  readonly compose: (...words: string[]) => Promise<string>
  /** `cloud-repo ... --json` in the container of the service. */
  readonly cli: Cli
  /** A field of `docker inspect`, as a Go template, of a service's first container. */
  inspect(service: ServiceName, template: string): Promise<string>
}

export interface ProjectOptions {
  /** As in `.env`. */
  readonly settings: Readonly<Record<string, string>>
}

/** Prepares a project; nothing runs yet. What an earlier run of this checkout left is the same project. */
export async function openProject({ settings }: ProjectOptions): Promise<Project> {
  const name = `cloud-repository-test-${createHash('sha256').update(ROOT).digest('hex').slice(0, 8)}`
  const [port, proxyPort] = [await freePort(), await freePort()]
  const environment = {
    ...(await baseImage()),
    ...Object.fromEntries(SECRETS.map((secret) => [secret, undefined])),
    SERVICE_PORTS: String(port),
    PROXY_PORT: String(proxyPort),
    ...settings,
  } as Record<string, string>
  // A developer's own .env and docker-compose.override.yml must not decide.
  const files = ['--env-file', '/dev/null', '--file', join(ROOT, 'docker-compose.yml')]
  const start = ['compose', ...files, '--project-directory', ROOT, '-p', name]
  const compose = (...words: string[]) =>
    docker([...start, ...words], { environment, timeoutMs: COMPOSE_TIMEOUT_MS })
  return {
    name,
    port,
    proxyPort,
    compose,
    cli: (...words) => compose('exec', '-T', 'service', 'cloud-repo', ...words, '--json'),
    inspect: (service, template) =>
      docker(['inspect', '--format', template, `${name}-${service}-1`]),
  }
}

/** The base image by its tag alone where that is stored, since a machine without a registry has no other. */
async function baseImage(): Promise<{ readonly NODE_IMAGE?: string }> {
  const [, tag = ''] =
    /^ARG NODE_IMAGE=([^@]+)@/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  const stored = await docker(['image', 'inspect', tag]).catch(() => undefined)
  return stored === undefined ? {} : { NODE_IMAGE: tag }
}

/** Building the image from nothing included. */
export const COMPOSE_TIMEOUT_MS = 900_000

const SECRETS = ['POSTGRES_PASSWORD', 'MINIO_ROOT_PASSWORD', 'S3_SECRET_KEY']
