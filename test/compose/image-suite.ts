import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Cli, createClient, sha256 } from './client.ts'
import { eventually } from '../support/eventually.ts'
import { blocksOf } from '../documents/pages.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { docker } from './docker.ts'
import { findProgram, freePort } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import type { Project } from './project.ts'
import { shippedPackages } from '../web/shipped-packages.ts'
import { startVersitygw, VERSITYGW } from './versitygw.ts'

interface Setting {
  readonly name: string
  readonly environment: Readonly<Record<string, string>>
}

const MINIO = {
  OBJECT_STORE: 's3://made-by-the-service',
  AWS_ENDPOINT_URL_S3: 'http://minio:9000',
  AWS_ACCESS_KEY_ID: 'root',
  AWS_SECRET_ACCESS_KEY: 'trial-minio-password',
}

/** A database belongs to one object store, so each combination has its own. */
const postgres = (name: string) => ({
  DATABASE_URL: `postgres://cloud_repository:trial-postgres-password@postgres/${name}`,
})

const COMBINATIONS: readonly Setting[] = [
  { name: 'SQLite and files', environment: { PORT: '8081', BASE_PATH: '/api' } },
  { name: 'SQLite and MinIO', environment: MINIO },
  { name: 'PostgreSQL and files', environment: postgres('with_files') },
  { name: 'PostgreSQL and MinIO', environment: { ...postgres('with_minio'), ...MINIO } },
]

/** The same image with nothing but environment variables, next to the PostgreSQL and MinIO of the project. */
export function imageSuite(project: Project): void {
  describe('the image, with a read-only root and environment variables alone', () => {
    it('is the command line with any other words', async () => {
      const run = ['run', '--rm', '--read-only', `${project.name}-service`]
      const listed = await docker([...run, 'users', 'list', '--json'])
      expect(listed).toBe('{"users":[],"next_cursor":null}')
    })

    it('describes its API', async () => {
      const port = await freePort()
      await startImage(project, { environment: {}, ports: `127.0.0.1:${port}:3000` })
      for (const path of ['/openapi.json', '/docs']) {
        expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
      }
    })

    it('says which packages it holds, in CycloneDX', async () => {
      const read = ['run', '--rm', '--entrypoint', 'cat', `${project.name}-service`]
      const sbom = JSON.parse(await docker([...read, '/app/sbom.json'])) as {
        readonly components: readonly { readonly name: string; readonly version: string }[]
      }
      const listed = sbom.components.map(({ name, version }) => `${name}@${version}`)
      expect(listed.toSorted()).toEqual((await shippedPackages()).toSorted())
      expect(await docker([...read, '/app/node_modules/preact/LICENSE'])).toMatch(/MIT License/)
    })

    it('keeps files on PostgreSQL and versitygw over a restart', async (test) => {
      test.skip(isSkipped(await whyMissing(findProgram('versitygw'))))
      await versitygw(project)
      await expectToKeepFiles(project, { ...postgres('with_versitygw'), ...VERSITYGW })
    })

    it('is backed up and restored by the commands of docs/backup.md', async () => {
      const page = { path: 'docs/backup.md', text: await readFile('docs/backup.md', 'utf8') }
      const blocks = blocksOf(page).filter(({ comment = '' }) => comment.includes('image-suite'))
      const [backup = '', restore = ''] = blocks.map(({ text }) => text)
      await using opened = new AsyncDisposableStack()
      const cwd = await temporaryFolder(opened)
      const port = await freePort()
      const ports = `127.0.0.1:${port}:3000`
      const backups = join(cwd, 'backups')
      await mkdir(backups)
      await chmod(backups, 0o777)
      const started = { environment: {}, ports, mounts: [`${backups}:/backup`] }
      const name = await startImage(project, started)
      const run = (block: string) => {
        const lines = block
          .replaceAll(/(?<=(?:exec|-v) )cloud-repository\b/g, name)
          .replaceAll(/ cloud-repository(?=[ \n])/g, ` ${project.name}-service`)
        const words = ['--norc', '-euo', 'pipefail', '-c', lines]
        return promisify(execFile)('bash', words, { cwd, timeout: 120_000 })
      }
      const cli: Cli = (...words) => docker(['exec', name, 'cloud-repo', ...words, '--json'])
      const client = await createClient({ port, cli, userId: 'zoe' })
      const contents = { small: randomBytes(100), large: randomBytes(2 ** 20) }
      for (const [file, content] of Object.entries(contents)) await client.upload(file, content)
      await run(backup)
      // Again, as every day.
      await run(backup)

      await docker(['rm', '--force', name])
      await docker(['volume', 'rm', name])
      await run(restore)
      await startImage(project, { ...started, name })
      for (const [file, content] of Object.entries(contents)) {
        expect(await client.download(file)).toEqual({ status: 200, sha256: sha256(content) })
      }
      expect(await client.upload('small', contents.large)).toMatchObject({ status: 200 })
    })

    it.each(COMBINATIONS)('keeps files on $name over a restart', async ({ environment }) => {
      await expectToKeepFiles(project, environment)
    })
  })
}

async function expectToKeepFiles(
  project: Project,
  environment: Setting['environment'],
): Promise<void> {
  const { PORT = '3000', BASE_PATH: basePath = '', DATABASE_URL } = environment
  if (DATABASE_URL !== undefined) await createDatabase(project, new URL(DATABASE_URL))
  const port = await freePort()
  const name = await startImage(project, { environment, ports: `127.0.0.1:${port}:${PORT}` })
  const cli: Cli = (...words) => docker(['exec', name, 'cloud-repo', ...words, '--json'])
  const client = await createClient({ port, basePath, cli, userId: `user-${port}` })
  const content = randomBytes(9 * 2 ** 20)
  expect(await client.upload('a.bin', content)).toMatchObject({ status: 200 })

  await docker(['stop', '--time', '30', name])
  expect(await docker(['inspect', '--format', '{{.State.ExitCode}}', name])).toBe('0')
  await docker(['start', name])
  await healthy(name)
  expect(await client.download('a.bin')).toEqual({ status: 200, sha256: sha256(content) })
}

/** Another S3 server than the compose file's; without its program on this machine there is nothing to test. */
async function versitygw(project: Project): Promise<string> {
  const program = await findProgram('versitygw')
  const name = await startVersitygw(project, program)
  onTestFinished(async () => {
    await docker(['rm', '--force', '--volumes', name])
  })
  return name
}

interface Start {
  readonly environment: Readonly<Record<string, string>>
  readonly ports: string
  /** Of the container and its volume; a new one when left out. */
  readonly name?: string
  readonly mounts?: readonly string[]
}

/** Runs the image until the end of the test, and resolves to the container's name once its own check says healthy. */
async function startImage(project: Project, start: Start): Promise<string> {
  const { environment, ports, mounts = [] } = start
  const { name = `${project.name}-image-${randomBytes(4).toString('hex')}` } = start
  const settings = Object.entries(environment).flatMap(([key, value]) => ['-e', `${key}=${value}`])
  const limits = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']
  const place = ['--network', `${project.name}_front`, '-p', ports]
  const volumes = [`${name}:/data`, ...mounts].flatMap((volume) => ['-v', volume])
  onTestFinished(async () => {
    await docker(['rm', '--force', '--volumes', name])
    await docker(['volume', 'rm', '--force', name])
  })
  // The image's own check, more often.
  const check = ['--health-interval', '1s']
  const image = `${project.name}-service`
  await docker([
    'create',
    '--name',
    name,
    ...limits,
    ...check,
    ...place,
    ...volumes,
    ...settings,
    image,
  ])
  await docker(['network', 'connect', `${project.name}_back`, name])
  await docker(['start', name])
  await healthy(name)
  return name
}

async function healthy(name: string): Promise<void> {
  await eventually(async () => {
    const health = await docker(['inspect', '--format', '{{.State.Health.Status}}', name])
    if (health !== 'healthy') throw new Error(`${name} is ${health}`)
  })
}

async function createDatabase({ compose }: Project, { pathname }: URL): Promise<void> {
  const psql = ['exec', '-T', 'postgres', 'psql', '-q', '-h', '/var/run/postgresql']
  await compose(...psql, '-U', 'cloud_repository', '-c', `CREATE DATABASE ${pathname.slice(1)}`)
}
