import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MIB, upload } from '../http/fixture.ts'
import { isSkipped } from '../support/servers/needs.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { temporaryFolder } from '../support/service/program.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'

/** The machine's own Node, which is older than the one that runs the tests on most machines. */
const MACHINE_NODE = '/usr/bin/env'
const NODES = [
  { title: "the machine's Node", command: [MACHINE_NODE, 'node'] },
  { title: 'Node 24', command: [process.execPath] },
] as const

function whyNot([program, ...args]: readonly [string, ...string[]]): string | undefined {
  const { stdout } = spawnSync(program, [...args, '--version'], {
    encoding: 'utf8',
    env: { PATH: outsidePath() },
  })
  const [, major = '0'] = /^v(\d+)/.exec(stdout) ?? []
  return Number(major) >= 20 ? undefined : "No client on the machine's Node: it is older than 20"
}

/** Without the folders of installed packages, which come first in a run of npm. */
function outsidePath(): string {
  const folders = (process.env['PATH'] ?? '').split(':')
  return folders.filter((folder) => !folder.includes('node_modules')).join(':')
}

const UP = ['upload', 'client.mjs', 'a']
const DOWN = ['download', 'a', 'b']

interface Failure {
  readonly what: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly code: number
  readonly message: RegExp
}

const FAILURES: readonly Failure[] = [
  { what: 'the file is missing', args: ['upload', 'x', 'a'], code: 1, message: /^ENOENT.*'x'$/ },
  { what: 'the name is unknown', args: DOWN, code: 1, message: /^404 \{.*"code":"not_found"/ },
  {
    what: 'the token is wrong',
    args: DOWN,
    environment: { ACCESS_TOKEN: 'crt_x' },
    code: 1,
    message: /^403 \{.*"code":"access_token_invalid"/,
  },
  {
    what: 'the folder is missing',
    args: ['download', 'c', 'none/b'],
    code: 1,
    message: /^ENOENT.*none\/b.part'$/,
  },
  {
    what: 'the service is down',
    args: UP,
    environment: { BASE_URL: 'http://127.0.0.1:2' },
    code: 1,
    message: /^fetch failed: ECONNREFUSED$/,
  },
  {
    what: 'there is no address',
    args: UP,
    environment: { BASE_URL: '' },
    code: 2,
    message: /^usage: [^]*BASE_URL/,
  },
  { what: 'words are missing', args: ['upload', 'a'], code: 2, message: /^usage: / },
]

let service: TestService
let user: TestUser
let opened: AsyncDisposableStack
let folder: string

beforeAll(async () => {
  service = await openEmbedded()
})
afterAll(() => service.stop())
beforeEach(async () => {
  opened = new AsyncDisposableStack()
  folder = await temporaryFolder(opened)
  user = await service.createUser(MIB)
})
afterEach(() => opened.disposeAsync())

describe.each(NODES)('the client for Node.js that docs/clients.md names, on $title', (node) => {
  const skipped = isSkipped(whyNot(node.command))

  interface Ran {
    readonly code: number
    readonly stdout: string
    readonly stderr: string
  }

  function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const [program, ...words] = node.command
    const env = {
      PATH: outsidePath(),
      BASE_URL: service.url,
      ACCESS_TOKEN: tokenOf(user),
      ...environment,
    }
    return new Promise<Ran>((resolve) => {
      execFile(program, [...words, ...args], { cwd: folder, env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })
  }

  async function paste(): Promise<void> {
    await copyFile('test/clients/client.mjs', join(folder, 'client.mjs'))
  }

  it.skipIf(skipped).each([
    ['with nothing else', undefined],
    ['with what `npm init -y` makes', { name: 'a', version: '1.0.0', main: 'index.js' }],
    ['of a project of modules', { type: 'module' }],
    ['of a project of CommonJS', { type: 'commonjs' }],
  ])('runs in a folder %s', async (_, manifest) => {
    await paste()
    if (manifest !== undefined) {
      await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    }
    const content = randomBytes(100_000)
    await writeFile(join(folder, 'a file'), content)
    const uploaded = await run(['client.mjs', 'upload', 'a file', 'name?'])
    expect(uploaded).toMatchObject({ code: 0 })
    expect(JSON.parse(uploaded.stdout)).toMatchObject({ name: 'name?', size: 100_000 })
    expect(await run(['client.mjs', 'download', 'name?', 'b'])).toMatchObject({ code: 0 })
    expect((await readFile(join(folder, 'b'))).equals(content)).toBe(true)
  })

  it.skipIf(skipped).each(FAILURES)('says without a stack that $what', async (failure) => {
    const { args, environment, code, message } = failure
    await paste()
    await upload(service, { user, name: 'c', content: '' })
    const ran = await run(['client.mjs', ...args], environment)
    // An older Node calls `openAsBlob` experimental.
    const said = ran.stderr.split('\n').filter((line) => !line.startsWith('('))
    expect(said.join('\n').trim()).toMatch(message)
    expect(ran.code).toBe(code)
    expect(ran.stderr).not.toMatch(/\n {4}at /)
  })

  it.skipIf(skipped)('is a library for other programs too', async () => {
    await paste()
    const { url: baseUrl } = service
    const program = `
      import { upload, download, Refusal } from './client.mjs'
      const service = ${JSON.stringify({ baseUrl, accessToken: tokenOf(user) })}
      const { etag } = await upload(service, 'client.mjs', 'a')
      await upload(service, 'client.mjs', 'a', etag)
      await download(service, 'a', 'b')
      const refusal = await upload(service, 'client.mjs', 'a', etag).catch((error) => error)
      console.log(refusal instanceof Refusal, refusal.status, refusal.problem.code)`
    await writeFile(join(folder, 'program.mjs'), program)
    const { stdout } = await run(['program.mjs', 'upload', 'x', 'y'])
    expect(stdout).toBe('true 412 precondition_failed\n')
  })
})

function tokenOf({ cookie }: TestUser): string {
  return cookie.slice('access_token='.length)
}
