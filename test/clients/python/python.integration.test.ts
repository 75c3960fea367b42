import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from '../../documents/pages.ts'
import { MIB, secretOf } from '../../http/fixture.ts'
import { startHttpProxy } from '../../support/faults/http-proxy.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { createContent } from '../package/fixture.ts'
import { expectMirror, expectMirrorWithin } from '../mirror.ts'
import { apiSuite } from './api-suite.ts'
import { changesSuite } from './changes-suite.ts'
import { fakesSuite } from './fakes-suite.ts'
import {
  installPackage,
  type Mode,
  type PythonProject,
  startSession,
  whyNoPython,
} from './installed-package.ts'
import { faultsSuite } from './faults-suite.ts'
import {
  errorsInReadme,
  errorsInTypeScript,
  METHODS_IN_PYTHON,
  methodsInReadme,
  methodsInTypeScript,
} from './methods.ts'
import { resourcesSuite } from './resources-suite.ts'
import type { PythonFixture } from './fixture.ts'

const execute = promisify(execFile)

const ADMIN_TOKEN = 'the-admin-token-of-the-package-tests'

describe.skipIf(isSkipped(await whyNoPython()))('the Python package', () => {
  const opened = new AsyncDisposableStack()
  let service: TestService
  let project: PythonProject
  beforeAll(async () => {
    service = await openEmbedded({
      maxFileSize: 64 * MIB,
      historyLifetimeMs: 3_600_000,
      adminToken: ADMIN_TOKEN,
    })
    opened.defer(() => service.stop())
    project = await installPackage(opened)
  })
  afterAll(() => opened.disposeAsync())

  const createToken = async () => secretOf(await service.createUser(256 * MIB))

  describe.each<Mode>(['Client', 'AsyncClient'])('%s', (mode) => {
    let fixture: PythonFixture
    beforeAll(async () => {
      const network = await startHttpProxy(service)
      opened.defer(() => network.stop())
      const user = await service.createUser(256 * MIB)
      const ADMIN = `http://127.0.0.1:${service.adminPort}`
      const addresses = { URL: network.url, DIRECT: service.url, ADMIN }
      const environment = { ...addresses, TOKEN: secretOf(user), ADMIN_TOKEN }
      const session = await startSession(opened, { project, mode, environment })
      fixture = { mode, network, service, user, session, project }
    })

    faultsSuite(() => fixture)
    fakesSuite(() => fixture)
    changesSuite(() => fixture)
    resourcesSuite(() => fixture)
    apiSuite(() => fixture)
  })

  it('continues an upload after a kill of its process', async () => {
    const { bytes, sha256 } = createContent(9 * MIB + 5)
    await project.write('film.bin', bytes)
    await project.write(
      'killed.py',
      `import os, signal, sys
from pathlib import Path
from cloud_repository import Client

client = Client(os.environ["URL"], os.environ["TOKEN"])

def stop(sent, total):
    if sent > 4e6 and sys.argv[1] == "stop":
        os.kill(os.getpid(), signal.SIGKILL)

print(client.files.upload("film", Path("film.bin"), on_progress=stop)["version"])
print(*client.uploads.list())`,
    )
    const env = { URL: service.url, TOKEN: await createToken() }
    const child = spawn(project.python, ['killed.py', 'stop'], { cwd: project.folder, env })
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    const left = await project.run(
      [
        '-c',
        'import os, cloud_repository as c\nprint(*c.Client(os.environ["URL"], os.environ["TOKEN"]).uploads.list())',
      ],
      env,
    )
    const [version, ...unfinished] = (await project.run(['killed.py', 'go'], env)).split('\n')
    expect(left).toContain(version)
    expect(unfinished.join('')).toBe('')
    const file = await fetch(`${service.url}/users/me/repo`, {
      headers: { authorization: `Bearer ${env.TOKEN}` },
    })
    expect(await file.json()).toMatchObject({ files: [{ sha256 }] })
  })

  it('is built with what PyPI needs, and the minor of the service', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
    const [major, minor] = version.split('.')
    const named = new RegExp(
      `^cloud_repository-${major}\\.${minor}\\.\\d+(\\.tar\\.gz|-py3-none-any\\.whl)$`,
    )
    expect(project.built.filter((name) => named.test(name))).toHaveLength(2)
    const program =
      'import json; from importlib.metadata import *; print(json.dumps(metadata("cloud-repository").json))'
    const metadata: unknown = JSON.parse(await project.run(['-c', program]))
    expect(metadata).toMatchObject({
      license_expression: 'Apache-2.0',
      requires_python: '>=3.10',
      requires_dist: ['httpx<1,>=0.27'],
    })
  })

  it('has the methods of the package for TypeScript, which the tables of both READMEs list', async () => {
    const methods = methodsInTypeScript().toSorted()
    const inPython = methods.map((name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`))
    const found = JSON.parse(await project.run(['-c', METHODS_IN_PYTHON])) as string[]
    expect(found.toSorted()).toEqual(inPython.toSorted())
    expect((await methodsInReadme('packages/js/README.md')).toSorted()).toEqual(methods)
    expect((await methodsInReadme('packages/python/README.md')).toSorted()).toEqual(
      inPython.toSorted(),
    )
  })

  it('documents the errors of the package for TypeScript, as that does', async () => {
    const own = await errorsInTypeScript()
    expect(own).toContain('connection_lost')
    expect(await errorsInReadme('packages/js/README.md')).toEqual(own)
    const inPython = await errorsInReadme('packages/python/README.md')
    expect(inPython).toEqual(own.filter((code) => code !== 'invalid_url'))
  })

  describe('the README', () => {
    it('has programs that run', async () => {
      const path = 'packages/python/README.md'
      const text = await readFile(path, 'utf8')
      const programs = blocksOf({ path, text }).filter(({ language }) => language === 'python')
      expect(programs.length).toBeGreaterThan(3)
      const { bytes, sha256 } = createContent(100_000)
      await project.write('film.mov', bytes)
      const env = { ACCESS_TOKEN: await createToken(), ADMIN_TOKEN }
      const outputs: string[] = []
      for (const [index, { text: program }] of programs.entries()) {
        const here = program
          .replaceAll('http://127.0.0.1:3000', service.url)
          .replaceAll('http://127.0.0.1:3001', `http://127.0.0.1:${service.adminPort}`)
        await project.write(`readme${index}.py`, here)
        outputs.push(await project.run(['-W', 'error', `readme${index}.py`], env))
      }
      expect(outputs[0]).toBe(
        `films/2026/sea.mov: 100000 bytes, SHA-256 ${sha256}\nfilms/2026/sea.mov 100000\n`,
      )
      const copy = await readFile(join(project.folder, 'copy.mov'))
      expect(copy.equals(bytes)).toBe(true)
      const [link, token] = [outputs.splice(3, 1)[0], outputs.pop()]
      expect(link).toMatch(/^http:\S+\/links\/\S+\n$/)
      expect(token).toMatch(/^crt_\S+\n$/)
      expect(outputs.slice(1).join('')).toBe(
        'file.renamed zero.txt\nnotes/0.txt\nAnother device was faster.\nnormal\n',
      )
    })
  })

  it('keeps a folder equal to a repository, also over a restart, by the example mirror.py', async () => {
    const program = resolve('docs/examples/mirror.py')
    const user = await service.createUser(MIB)
    const folder = join(project.folder, 'copy')
    const env = { BASE_URL: service.url, ACCESS_TOKEN: secretOf(user) }
    const start = () => spawn(project.python, [program, folder], { env, stdio: 'inherit' })
    await expectMirror({ service, user, folder, start })
  })

  it('keeps a mirror within its folder, whatever the names are', async () => {
    const program = resolve('docs/examples/mirror.py')
    await expectMirrorWithin(({ url, folder }) => {
      const env = { BASE_URL: url, ACCESS_TOKEN: 'crt_' }
      return spawn(project.python, [program, folder], { env, stdio: 'ignore' })
    })
  })

  describe('the types', () => {
    const mypy = async (words: readonly string[]) => {
      const cache = join(project.folder, 'types')
      const shared = [
        '--no-error-summary',
        '--config-file',
        'packages/python/pyproject.toml',
        '--cache-dir',
        cache,
        '--python-executable',
        project.python,
      ]
      const args = ['-m', 'mypy', ...shared, ...words]
      return execute('python3', args).then(
        ({ stdout }) => stdout,
        (error: { readonly stdout: string }) => error.stdout,
      )
    }

    it('are sound', async () => {
      expect(await mypy(['packages/python/src'])).toBe('')
    })

    it('have the members that the OpenAPI document has', async () => {
      const program = `import json, typing, cloud_repository.models as models
kinds = {name: kind for name, kind in vars(models).items() if typing.is_typeddict(kind)}
print(json.dumps({name: {
    key: key in kind.__required_keys__ for key in kind.__required_keys__ | kind.__optional_keys__} for name, kind in kinds.items()}))`
      const models = JSON.parse(await project.run(['-c', program])) as Record<string, object>
      const [api, adminApi] = await Promise.all(['openapi', 'admin-openapi'].map(schemasOf))
      const named = Object.keys(models).filter((name) => !name.startsWith('_'))
      for (const model of named.filter((name) => !WITHOUT_SCHEMA.has(name))) {
        const schema = SCHEMAS[model] ?? model
        const { properties = {}, required = [] } = api?.[schema] ?? adminApi?.[schema] ?? {}
        const members = Object.keys(properties).map((name) => [name, required.includes(name)])
        const more = model === 'Change' ? { cursor: true } : {}
        expect({ model, ...models[model] }).toEqual({
          model,
          ...Object.fromEntries(members),
          ...more,
        })
      }
    })

    it('tell the blocking from the asynchronous client, and find mistakes', async () => {
      const path = await project.write('typed.py', TYPED)
      const output = await mypy([path])
      const faults = [...output.matchAll(/^[^:]+:(\d+): error: (.*)$/gm)].map(([, line]) =>
        Number(line),
      )
      const wrong = TYPED.split('\n').flatMap((line, index) =>
        line.endsWith('# wrong') ? [index + 1] : [],
      )
      expect({ faults: [...new Set(faults)], output }).toMatchObject({ faults: wrong })
    })
  })
})

async function schemasOf(name: string): Promise<Readonly<Record<string, Schema>>> {
  const { components } = JSON.parse(await readFile(`api/${name}.json`, 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
  return components.schemas
}

interface Schema {
  readonly properties?: object
  readonly required?: readonly string[]
}

/** The schemas of the models that do not have their names. */
const SCHEMAS: Readonly<Record<string, string>> = {
  AdminSession: 'OwnSession',
  File: 'StoredFile',
  Change: 'RepositoryChange',
  ScopeTerms: 'Scope',
  Session: 'OwnToken',
  UnfinishedUpload: 'Upload',
  UserUpload: 'UnfinishedUpload',
  UserUploadPage: 'UnfinishedUploadPage',
}

/** Models of what the document has in another form, or within other schemas. */
const WITHOUT_SCHEMA = new Set(['Room', 'Evicted', 'Scope', 'UploadedFile', 'BatchOperation'])

const TYPED = `from cloud_repository import AsyncClient, Client, CloudRepositoryError
from cloud_repository.models import File

client = Client("http://a", "token")
size: int = client.files.upload("a", b"a", if_none_match="*")["size"]
names: list[str] = [file["name"] for file in client.files.list(prefix="a")]
folders: list[str] = [name for page in client.files.list(delimiter="/").pages() for name in page["prefixes"]]
content: bytes = client.files.download("a").read()
sequence: int = next(iter(client.changes.follow("cursor")))["sequence"]
wrong: str = client.capacity()["used"]  # wrong
folders = next(iter(client.files.list().pages()))["folders"]  # wrong
client.files.upload("a", b"a", if_mach="*")  # wrong
client.files.upload("a", 5)  # wrong
client.files.get("a")["siz"]  # wrong


async def main(client: AsyncClient) -> File:
    file = await client.files.upload("a", b"a")
    async for change in client.changes.follow():
        print(change["name"])
    for change in client.changes.follow():  # wrong
        break
    client.files.get("a")["size"]  # wrong
    async with client:
        return await client.files.rename("a", "b") if file["replaced"] else file
`
