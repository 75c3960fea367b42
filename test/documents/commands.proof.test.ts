import { createHash } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { parseByteSize } from '../../src/core/byte-size.ts'
import { docker } from '../compose/docker.ts'
import { findProgram, freePort } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { buildPage } from '../support/http/page.ts'
import { type Clone, type ClonedService, openClone } from './clone.ts'
import { allOf, type Block, blocksOf, readPages } from './pages.ts'

/** Pages whose blocks other tests make or run, one and all. */
const RUN_ELSEWHERE = new Set([
  'packages/js/README.md',
  'packages/python/README.md',
  'docs/camera-product.md',
  'docs/clients.md',
  'docs/guides.md',
  'docs/webhooks.md',
])

const withoutCurl = isSkipped(await whyMissing(findProgram('curl')))
const withoutOpenssl = isSkipped(await whyMissing(findProgram('openssl')))
/** It reads the files without an engine. */
const withoutCompose = isSkipped(await whyMissing(docker(['compose', 'version'])))

const pages = await readPages()
const blocks = pages
  .filter(({ path }) => !RUN_ELSEWHERE.has(path))
  .flatMap(blocksOf)
  // A picture made of letters.
  .filter(({ language }) => language !== 'text')

interface Scene {
  /** The block's lines. */
  readonly text: string
  readonly clone: Clone
  /** What `npm start` has started in it. */
  readonly service: ClonedService
}

/** The first line of two blocks. */
const AS_JSON = `curl -H 'Authorization: Bearer crt_...' -H 'Content-Type: application/json' -w '\\n' \\\n`

/**
 * What each block of the documents does, by the beginning of its name or of its text, in the order of a reader who does
 * it all.
 */
const RUNS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'npm start': async ({ service }) => {
    const shown = blockOf("curl --cookie access_token=crt_... -w '\\n' -F").text
    const printed = service.output().replaceAll(service.token, 'crt_...')
    for (const line of shown.trimEnd().split('\n')) {
      const own = line
        .replace('http://127.0.0.1:3000', service.url)
        .replace("'file=@README.md'", '')
      for (const word of own.split(/\s+/)) expect(printed).toContain(word)
    }
    const link = /browser: (\S+)#access_token=/
    // Where the page could not be built, what is printed says why.
    expect(printed).toMatch(link)
    const page = await fetch(link.exec(printed)?.[1] ?? '')
    expect(await page.text()).toMatch(/^<!doctype html>/i)
  },
  "curl --cookie access_token=crt_... -w '\\n' -F": async (scene) => {
    const [reply = '', ...content] = (await scene.clone.run(asDemo(scene))).split('\n')
    expect(JSON.parse(reply)).toMatchObject({ name: 'README.md', user_id: 'demo', replaced: false })
    expect(content.join('\n')).toBe(await readFile('README.md', 'utf8'))
  },
  "curl -H 'Authorization: Bearer crt_...' -w '\\n' -T": async (scene) => {
    const reply: unknown = JSON.parse(await scene.clone.run(asDemo(scene)))
    expect(reply).toMatchObject({ name: 'README.md', replaced: true })
  },
  "curl -H 'Authorization: Bearer crt_...' -o": async (scene) => {
    const copied = await scene.clone.run(`${asDemo(scene)}\ncat copy.md`)
    expect(copied).toBe(await readFile('README.md', 'utf8'))
  },
  "curl -H 'Authorization: Bearer crt_...' -T": async (scene) => {
    const reply: unknown = JSON.parse(await scene.clone.run(`printf x >clip.mp4\n${asDemo(scene)}`))
    expect(reply).toMatchObject({ name: 'camera-17/2026-11-28/120000.mp4', size: 1 })
  },
  "curl -H 'Authorization: Bearer crt_...' -H 'Content-Type: image/jpeg'": async (scene) => {
    const reply: unknown = JSON.parse(
      await scene.clone.run(`printf x >frame.jpg\n${asDemo(scene)}`),
    )
    expect(reply).toMatchObject({ media_type: 'image/jpeg', metadata: { camera: 'front door' } })
  },
  "curl -H 'Authorization: Bearer crt_...' -H 'Content-Type: application/json' -d": async (
    scene,
  ) => {
    const headers = { cookie: `access_token=${scene.service.token}` }
    for (const name of ['world.tmp', 'player.tmp']) {
      const url = `${scene.service.url}/users/me/repo/${name}`
      await fetch(url, { method: 'PUT', headers, body: name })
    }
    const reply: unknown = JSON.parse(await scene.clone.run(asDemo(scene)))
    expect(reply).toMatchObject({
      results: [
        { op: 'rename', name: 'world.tmp', file: { name: 'world.dat' } },
        { op: 'rename', name: 'player.tmp', file: { name: 'player.dat' } },
        { op: 'delete', name: 'journal', file: null },
      ],
    })
  },
  [`${AS_JSON}  -d '{"kind"`]: async (scene) => {
    const reply: unknown = JSON.parse(await scene.clone.run(asDemo(scene)))
    expect(reply).toMatchObject({ kind: 'download', name: 'report.pdf' })
  },
  [`${AS_JSON}  -d '{"label"`]: async (scene) => {
    const reply: unknown = JSON.parse(await scene.clone.run(asDemo(scene)))
    expect(reply).toMatchObject({
      label: 'camera',
      scope: { actions: ['create'], prefix: 'camera-17/', device_id: null },
    })
  },
  'echo "jwt_$(printf': async ({ text, clone }) => {
    const id = createHash('sha256').update('auth0|5f7c8ec7').digest('base64url')
    expect(await clone.run(text)).toBe(`jwt_${id}\n`)
  },
  '"name": "README.md"': async ({ text, service }) => {
    const headers = { cookie: `access_token=${service.token}` }
    const url = `${service.url}/users/me/repo/README.md`
    const reply: unknown = await (await fetch(url, { method: 'PUT', headers, body: 'x' })).json()
    expect(shapeOf(reply)).toEqual(shapeOf(JSON.parse(text)))
  },
  'const body = new FormData()': async ({ text, clone, service }) => {
    const page = `
      const file = new File(['content'], 'a b.txt')
      const headers = { cookie: 'access_token=${service.token}' }
      const fetch = (path, what) => globalThis.fetch('${service.url}' + path, { headers, ...what })
      ${text}
      console.log(await reply.text())`
    const words = `'${process.execPath}' --input-type=module --eval "$PAGE"`
    expect(JSON.parse(await clone.run(words, { PAGE: page }))).toMatchObject({ name: 'a b.txt' })
  },
  '"user_id": "demo"': async ({ text, clone, service }) => {
    await clone.run('npm run -s cli -- devices add demo camera-17 --model camera-2 --label Gate')
    const headers = { cookie: `access_token=${service.token}` }
    const reply = await fetch(`${service.url}/users/me/capacity`, { headers })
    expect(shapeOf(await reply.json())).toEqual(shapeOf(JSON.parse(text)))
  },
  '"versions": [': async ({ text, service }) => {
    const headers = { cookie: `access_token=${service.token}` }
    const path = `${service.url}/users/me/repo/past`
    await fetch(path, { method: 'PUT', body: 'x', headers })
    await fetch(path, { method: 'DELETE', headers })
    const reply = await fetch(`${service.url}/users/me/history?name=past`, { headers })
    expect(shapeOf(await reply.json())).toEqual(shapeOf(JSON.parse(text)))
  },
  '"changes": [': async ({ text, service }) => {
    const headers = { cookie: `access_token=${service.token}` }
    const ask = async (path: string, init: RequestInit = {}) => {
      const reply = await fetch(`${service.url}/users/me/${path}`, {
        ...init,
        headers: { ...headers, 'content-type': 'application/json' },
      })
      return (await reply.json()) as Record<string, unknown>
    }
    const { next_cursor: cursor } = await ask('changes')
    await ask('repo/old', { method: 'PUT', body: 'x' })
    await ask('repo/old', { method: 'PATCH', body: '{"name":"new"}' })
    const page = await ask(`changes?cursor=${String(cursor)}`)
    const shown = { ...page, changes: (page['changes'] as readonly unknown[]).slice(-1) }
    expect(shapeOf(shown)).toEqual(shapeOf(JSON.parse(text)))
  },
  'token=crt_...': async (scene) => {
    const { clone, service } = scene
    await clone.run(`printf 'a film' >film.mov\n${asDemo(scene)}`)
    const headers = { cookie: `access_token=${service.token}` }
    const reply = await fetch(`${service.url}/users/me/repo/film.mov`, { headers })
    expect(await reply.text()).toBe('a film')
  },
  '"upload_id": "019ab1c2-..."': async ({ text, service }) => {
    const cookie = `access_token=${service.token}`
    const headers = {
      cookie,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': '10',
      'Upload-Metadata': `filename ${btoa('film.mov')}`,
    }
    const uploads = `${service.url}/users/me/uploads`
    const { headers: created } = await fetch(uploads, { method: 'POST', headers })
    const reply = await fetch(`${service.url}${created.get('location')}`, { headers: { cookie } })
    expect(shapeOf(await reply.json())).toEqual(shapeOf(JSON.parse(text)))
  },
  '(umask': async ({ text, clone }) => {
    const printed = await clone.run(`umask 022\n${text}\n[ "$(stat -c %a .env)" = 600 ]`)
    expect(printed).toMatch(/access_token +crt_/)
    const capacities = [...printed.matchAll(/^capacity +(.+)$/gm)].map(([, size = '']) =>
      parseByteSize(size),
    )
    // The promotion ends one day.
    expect(capacities.at(-1)).toBeGreaterThanOrEqual(21 * 2 ** 30)
  },
  'npm run -s cli -- backup backups\n': async ({ text, clone }) => {
    expect(await clone.run(text)).toMatch(/^copied +\d[^]*^findings +0$/m)
    expect(await clone.run('ls backups')).toBe('backup.lock\ncopies\nobjects\n')
  },
  'mv data data.lost': async ({ text }) => {
    await using opened = new AsyncDisposableStack()
    const clone = await openClone(opened)
    const service = await clone.start('npm start')
    const target = `${service.url}/users/me/repo/kept.txt`
    const headers = { cookie: `access_token=${service.token}` }
    await fetch(target, { method: 'PUT', headers, body: 'kept' })
    await clone.run(blockOf('npm run -s cli -- backup backups\n').text)
    await service.stop()
    expect(await clone.run(text)).toMatch(/^files +[1-9]/m)
    const restored = await clone.start('npm start')
    const reply = await fetch(`${restored.url}/users/me/repo/kept.txt`, { headers })
    expect(await reply.text()).toBe('kept')
    await restored.stop()
  },
  'npm run -s cli -- operators add': async ({ text, clone }) => {
    expect(await clone.run(text)).toMatch(/token +cro_/)
  },
  'npm run -s cli -- audit': async ({ text, clone }) => {
    expect(await clone.run(text)).toMatch(/user\.create/)
  },
  'npm run -s cli -- doctor': async ({ text, clone }) => {
    await clone.run(text)
  },
  'METRICS_PORT=': async ({ text, clone }) => {
    const port = String(await freePort())
    const metered = await clone.start(text.replace('=9091', `=${port}`))
    const reply = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(await reply.text()).toContain('cloud_repository_build_info')
    await metered.stop()
  },
  'ALLOWED_ORIGINS=': async ({ text, clone }) => {
    const shared = await clone.start(text)
    const headers = { origin: 'https://app.example.com', cookie: `access_token=${shared.token}` }
    const reply = await fetch(`${shared.url}/users/me/repo`, { headers })
    expect(reply.headers.get('access-control-allow-origin')).toBe(headers.origin)
    await shared.stop()
  },
  'npm run -s cli -- verify  ': async ({ text, clone }) => {
    expect(await clone.run(text)).toMatch(/^(.*remaining +0\n?){3}$/s)
  },
  'echo "cloud_repository_backup': async ({ text, clone }) => {
    await clone.run(text.replaceAll('/var/lib/node_exporter/', './'))
    const metrics = await readFile(join(clone.folder, 'backup.prom'), 'utf8')
    expect(metrics).toMatch(/^cloud_repository_backup_completion_timestamp_seconds \d{10}\n$/)
  },
  'npm run -s cli -- verify --metrics': async ({ text, clone }) => {
    await clone.run(text.replaceAll('/var/lib/node_exporter/', './'))
    const metrics = await readFile(join(clone.folder, 'verify.prom'), 'utf8')
    expect(metrics).toContain('cloud_repository_drift{kind="missing_object"} 0')
  },
  'cloud-repo rebuild --dry-run': async ({ text, clone }) => {
    const environment = { DATA_DIR: join(clone.folder, 'lost') }
    expect(await clone.run(`${CLOUD_REPO}\n${text}`, environment)).toMatch(/files +0/)
  },
  'OTEL_EXPORTER_OTLP_ENDPOINT=': async ({ text, clone }) => {
    const traced = await clone.start(text)
    expect((await fetch(`${traced.url}/livez`)).status).toBe(200)
    await traced.stop()
  },
  'export DATABASE_URL=': async ({ text, clone }) => {
    expect(readConfig(await settingsOf(text, clone))).toMatchObject({
      database: { kind: 'postgres' },
      objectStore: { kind: 's3', bucket: 'cloud-repository', endpoint: 'http://127.0.0.1:9000' },
    })
  },
  'JWT_JWKS_URL=': ({ text }) => {
    const { jwt } = readConfig(parseEnv(text))
    expect(jwt).toMatchObject({ audience: 'cloud-repository', createsUsers: false })
    return Promise.resolve()
  },
  'touch .env': async ({ text, clone }) => {
    const settings = async (): Promise<NodeJS.Dict<string>> =>
      parseEnv(await clone.run('cat compose/.env'))
    await clone.run(`umask 022; mkdir compose; cd compose\n${text}`)
    const made = await settings()
    expect(Object.keys(made).toSorted()).toEqual(await secretsOfCompose())
    for (const secret of Object.values(made)) expect(secret).toMatch(/^[0-9a-f]{40}$/)
    expect(new Set(Object.values(made)).size).toBe(3)
    await clone.run(`cd compose; [ "$(stat -c %a .env)" = 600 ]; cp -p .env before
      ${text}
      cmp .env before; [ "$(stat -c %a .env)" = 600 ]`)
    // As a copy of the example and the lines of "Users, tokens, devices" leave one, and without an end of the last
    // line.
    await clone.run(`cd compose; umask 022; rm .env; cp ../.env.example .env
      echo POSTGRES_PASSWORD=my-own >> .env; printf BASE_CAPACITY=2GiB >> .env
      ${text}
      [ "$(stat -c %a .env)" = 600 ]`)
    expect(await settings()).toEqual({
      ...made,
      POSTGRES_PASSWORD: 'my-own',
      BASE_CAPACITY: '2GiB',
      MINIO_ROOT_PASSWORD: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      S3_SECRET_KEY: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
    })
  },
  '# docker-compose.override.yml': async ({ text, clone }) => {
    const { networks, services } = await composeWith(text, clone)
    const subnet = networks.front.ipam.config?.[0]?.subnet
    expect(subnet).toMatch(/\/24$/)
    const { environment, ports, healthcheck, logging } = services['service'] ?? {}
    expect(environment).toMatchObject({ TRUST_PROXY: subnet, PAGE_LOGO: '/logo.svg' })
    const { volumes } = services['service'] ?? {}
    expect(volumes?.map(({ target }) => target)).toEqual(['/data', '/logo.svg'])
    expect(ports).toMatchObject([
      { host_ip: '127.0.0.1', published: '3000', target: 3000 },
      { host_ip: '127.0.0.1', published: '3001', target: 3001 },
      { host_ip: '127.0.0.1', published: '9091', target: 9091 },
    ])
    // Without the options of the driver that it replaces.
    expect(logging).toEqual({ driver: 'journald', options: { tag: 'cloud-repository' } })
    expect(healthcheck).toMatchObject({ interval: '5s', start_period: '1h0m0s' })
    // What docker-compose.yml has is all still there.
    expect(environment).toMatchObject({ OBJECT_STORE: 's3://cloud-repository' })
    expect(Object.keys(services['proxy']?.networks ?? {})).toEqual(['front'])
  },
  'files=docker-compose.yml:': async ({ text, clone }) => {
    await clone.run(`mkdir -p weed/deploy; cd weed; cp ../docker-compose.yml .; cp ../deploy/*.yml deploy/
      ${text}
      echo 'services: { service: { mem_limit: 3g } }' > docker-compose.override.yml
      ${text}`)
    const { services } = await composeConfig(
      'cd weed; docker compose --profile backup config',
      clone,
    )
    expect(Object.keys(services).toSorted()).toEqual(['mc', 'postgres', 'seaweedfs', 'service'])
    expect(services['service']?.mem_limit).toBe(String(3 * 2 ** 30))
    expect(services['mc']?.environment).toMatchObject({ S3_ENDPOINT: 'http://seaweedfs:8333' })
  },
  "printf '\\n%s\\n' COMPOSE_PROFILES": async ({ text, clone }) => {
    await clone.run(`mkdir scale; cd scale; cp ../docker-compose.yml .
      docker() { [ "$2" = up ]; }
      ${text}`)
    const { services } = await composeConfig('cd scale; docker compose config', clone)
    expect(Object.keys(services)).toContain('proxy')
    const { deploy, ports } = services['service'] ?? {}
    expect({ deploy, ports }).toMatchObject({
      deploy: { replicas: 3 },
      ports: [{ published: '0' }],
    })
  },
  'export ADMIN_TOKEN=': async ({ text, clone }) => {
    const empty = await clone.start(`${KNOWN_TOKEN}\n${text}`)
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const reply = await fetch(`${empty.adminUrl}/admin/users/demo`, { headers })
    expect(await reply.json()).toMatchObject({ capacity: { capacity: 0, state: 'critical' } })
    expect(empty.output()).toMatch(`export ADMIN_TOKEN=${ADMIN_TOKEN}\n`)
    await empty.stop()
  },
  'npm run -s cli -- backup backups &&': async ({ text, clone }) => {
    const environment = { DATA_DIR: join(clone.folder, 'upgraded') }
    // Of the service of the other blocks.
    await clone.run('rm -rf backups')
    await clone.run('npm run -s cli -- users create alice', environment)
    const git =
      'git() { case "$1" in rev-parse) echo cbd861c;; switch | pull) ;; *) false;; esac; }'
    const upgraded = await clone.start(`${git}\n${BUILT}\n${text}`, environment)
    await upgraded.stop()
    const copy = { DATA_DIR: join(clone.folder, 'before') }
    await clone.run('npm run -s cli -- restore backups', copy)
    expect(await clone.run('npm run -s cli -- users show alice', copy)).toContain('alice')
  },
  'URL=${URL:-': async ({ text, clone }) => {
    const empty = await clone.start(`${KNOWN_TOKEN}\n${blockOf('export ADMIN_TOKEN=').text}`)
    const env = { ADMIN_TOKEN, URL: empty.url, ADMIN_URL: empty.adminUrl ?? '' }
    expectSession(await clone.run(text, env))
    await empty.stop()
  },
}

const ADMIN_TOKEN = 'the-token-of-this-test'

/** Makes up the token that is known here, when the lines ask for one. */
const KNOWN_TOKEN = `openssl() { echo ${ADMIN_TOKEN}; }`

interface ComposeService {
  readonly environment?: object
  readonly mem_limit?: string
  readonly networks?: object
  readonly ports?: readonly object[]
  readonly volumes?: readonly { readonly target: string }[]
  readonly healthcheck?: object
  readonly logging?: object
  readonly deploy?: object
}

interface ComposeConfig {
  readonly networks: { readonly front: { readonly ipam: { config?: { subnet: string }[] } } }
  readonly services: Readonly<Record<string, ComposeService>>
}

/** What Compose reads from `docker-compose.yml` with this override. */
async function composeWith(override: string, clone: Clone): Promise<ComposeConfig> {
  const file = join(clone.folder, 'docker-compose.override.yml')
  await writeFile(file, override)
  const config = await composeConfig('docker compose --profile scale config', clone)
  await rm(file)
  return config
}

/** What this command of Compose prints, as JSON. */
async function composeConfig(command: string, clone: Clone): Promise<ComposeConfig> {
  // Where Docker looks for its plugins.
  const DOCKER_CONFIG = process.env['DOCKER_CONFIG'] ?? join(homedir(), '.docker')
  return JSON.parse(await clone.run(`${command} --format json`, { DOCKER_CONFIG })) as ComposeConfig
}

/** The names of what `docker-compose.yml` has a trial value for, in order. */
async function secretsOfCompose(): Promise<string[]> {
  const compose = await readFile('docker-compose.yml', 'utf8')
  return [...new Set(allOf(/\$\{([A-Z0-9_]+)-trial-/g, compose))].toSorted()
}

/** Does what rsync does here, since a machine may lack it. */

/** Installs and builds nothing: the clone links to what is installed, and the page is built. */
const BUILT = 'npm() { case "$*" in ci | "run build") ;; *) command npm "$@";; esac; }'

/** In the image the command line has this name. */
const CLOUD_REPO = 'cloud-repo() { npm run -s cli -- "$@"; }'

/** In place of a run: which test runs it where that is possible, or why there is nothing to run. */
const ELSEWHERE = /^needs [^:]+: .*?(test\/[^ ,]*).*$/

describe('the blocks of the documents', () => {
  const opened = new AsyncDisposableStack()
  let clone: Clone
  let service: ClonedService
  beforeAll(async () => {
    // Its sources are links, so the service looks for the page where they lead.
    await buildPage()
    clone = await openClone(opened)
    service = await clone.start(blockOf('npm start').text)
  }, 120_000)
  afterAll(() => opened.disposeAsync())

  it.for(Object.entries(RUNS))('%s does what it says', { timeout: 120_000 }, async (...row) => {
    const [[name, run], { skip }] = row
    const { text } = blockOf(name)
    if (text.includes('curl ')) skip(withoutCurl)
    // That of ADMIN_TOKEN is answered by the test itself.
    if (text.includes('openssl ') && !text.includes('ADMIN_TOKEN')) skip(withoutOpenssl)
    if (/^# docker-compose\.|COMPOSE_[FP]/.test(text)) skip(withoutCompose)
    await expect(run({ text, clone, service })).resolves.toBeUndefined()
  })

  it('are run, each of them, or say above them what they need and what is checked instead', () => {
    const left = blocks.filter((block) => !isRun(block) && reasonOf(block) === undefined)
    expect(left.map(({ page, name }) => `${page}: ${name}`)).toEqual([])
  })

  it('blocks that are not run name a test that exists', async () => {
    const named = blocks.flatMap((block) => reasonOf(block) ?? [])
    expect(named).not.toEqual([])
    for (const path of named) await expect(stat(path)).resolves.toBeDefined()
  })

  it('blocks that are run say nothing else', () => {
    expect(blocks.filter((block) => isRun(block) && block.comment !== undefined)).toEqual([])
  })

  it('are all seen', () => {
    for (const page of pages) {
      const fences = [...page.text.matchAll(/^```/gm)].length
      const fenced = blocksOf(page).filter(({ language }) => language !== 'indented').length
      expect({ page: page.path, fences }).toEqual({ page: page.path, fences: 2 * fenced })
    }
  })
})

function isRun(block: Block): boolean {
  return Object.keys(RUNS).some((beginning) => blockOf(beginning) === block)
}

/** The file or folder of what is checked in place of a run. */
function reasonOf({ comment = '' }: Block): string | undefined {
  return ELSEWHERE.exec(comment)?.[1]
}

/** The only block whose name or text begins so, but for one whose beginning is longer. */
function blockOf(beginning: string): Block {
  const found = blocks.filter(
    ({ name, text }) => name.startsWith(beginning) || text.startsWith(beginning),
  )
  const exact = found.filter(({ name }) => name === beginning)
  const [block, ...others] = exact.length === 1 ? exact : found
  if (block === undefined || others.length > 0) {
    throw new Error(`There are ${found.length} blocks that begin with ${beginning}`)
  }
  return block
}

/** The lines, for the demo user of the service that runs. */
function asDemo({ text, service }: Pick<Scene, 'text' | 'service'>): string {
  return text
    .replaceAll('crt_...', service.token)
    .replaceAll('http://127.0.0.1:3000', service.url)
    .replaceAll(/curl (?!--fail)/g, 'curl -sS --fail ')
}

/** The environment in which the lines would have `npm start` run. */
async function settingsOf(lines: string, clone: Clone): Promise<Record<string, string>> {
  const printed = await clone.run(`npm() { env; }\n${lines}`)
  const pairs = printed.trimEnd().split('\n')
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

/** Names and types of a JSON value, of a list those of its entries. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
}

/** What the calls of the session with the admin API answer, a line each. */
function expectSession(printed: string): void {
  const answers = printed.trimEnd().split('\n')
  const [account, phone, camera, capacity, full, left, refused, size, shrunk, fits] = answers.map(
    (line): unknown => (line === '' ? undefined : JSON.parse(line)),
  )
  expect(account).toMatchObject({ user_id: 'alice', capacity: { capacity: 0 } })
  expect([phone, camera]).toMatchObject([{ bytes: 1000 }, { bytes: 2000 }])
  expect(capacity).toMatchObject({ capacity: 3000, available: 3000, state: 'normal' })
  expect(full).toMatchObject({ size: 3000, capacity: { available: 0 } })
  expect(left).toBeUndefined()
  expect(refused).toMatchObject({ code: 'capacity_exceeded', capacity: 1000, used: 3000 })
  expect(size).toBe(3000)
  expect(shrunk).toMatchObject({ name: 'movie', size: 900, replaced: true })
  expect(fits).toMatchObject({ name: 'note', size: 100, capacity: { available: 0 } })
}
