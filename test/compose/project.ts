import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
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
  const images = join(tmpdir(), `${name}-images.json`)
  await writeFile(images, JSON.stringify({ services: await storedImages() }))
  const files = ['--file', join(ROOT, 'docker-compose.yml'), '--file', images]
  const words = ['--env-file', '/dev/null', ...files, '--project-directory', ROOT]
  const start = ['compose', ...words, '-p', name]
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

/** The base image by its tag alone where that is stored. */
async function baseImage(): Promise<{ readonly NODE_IMAGE?: string }> {
  const [, tag = ''] =
    /^ARG NODE_IMAGE=([^@]+)@/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  return (await isStored(tag)) ? { NODE_IMAGE: tag } : {}
}

/** The images that the compose file pins by digest, by their tags alone where these are stored. */
async function storedImages(): Promise<Readonly<Record<string, { readonly image: string }>>> {
  const text = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8')
  const services = text.matchAll(/^ {2}([a-z-]+):\n(?: {4}.*\n)*? {4}image: ([^@\s]+)@/gm)
  const images = Array.from(
    services,
    ([, service = '', image = '']) => [service, { image }] as const,
  )
  const stored = await Promise.all(images.map(async ([, { image }]) => await isStored(image)))
  return Object.fromEntries(images.filter((_, at) => stored[at]))
}

/** A machine without a registry has images by their tags alone. */
function isStored(image: string): Promise<boolean> {
  return docker(['image', 'inspect', image]).then(
    () => true,
    () => false,
  )
}

/** Building the image from nothing included. */
export const COMPOSE_TIMEOUT_MS = 900_000

const SECRETS = ['POSTGRES_PASSWORD', 'MINIO_ROOT_PASSWORD', 'S3_SECRET_KEY']
