import { randomBytes } from 'node:crypto'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MIB, secretOf } from '../../http/fixture.ts'
import { type Listener, DESCRIBED } from '../../catalogue/api-operations.ts'
import { DOCUMENT_FILES } from '../../openapi/documents.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { runIn } from './generator.ts'
import { OAPI_CODEGEN } from './go.ts'
import { OPENAPI_PYTHON_CLIENT } from './python.ts'
import { TYPESCRIPT_GENERATORS } from './typescript.ts'

const GENERATORS = await Promise.all(
  [...TYPESCRIPT_GENERATORS, OPENAPI_PYTHON_CLIENT, OAPI_CODEGEN].map(async (generator) => ({
    generator,
    title: generator.title,
    skipped: isSkipped(await whyMissing(runIn('.', generator.probe))),
  })),
)

describe.each(GENERATORS)('a client that $title generates', ({ generator, skipped }) => {
  const opened = new AsyncDisposableStack()
  let folder: string
  beforeAll(async () => {
    if (skipped) return
    folder = await temporaryFolder(opened)
    await generator.prepare(folder)
  })
  afterAll(() => opened.disposeAsync())

  /** Generates and compiles the client of a listener's document. */
  async function expectWholeClient(listener: Listener): Promise<void> {
    await copyFile(DOCUMENT_FILES[listener], join(folder, 'openapi.json'))
    expect(await generator.generate(folder)).toBe('')
    const hasOperation = await generator.hasOperation(folder)
    const ids = DESCRIBED.filter((each) => each.listener === listener).map(({ id }) => id)
    expect(ids.filter((id) => !hasOperation(id))).toEqual([])
    expect(hasOperation('noSuchOperation')).toBe(false)
    await generator.compile(folder)
  }

  it('has its command in docs/clients.md', async () => {
    expect(await readFile('docs/clients.md', 'utf8')).toContain(`\`${generator.command}\``)
  })

  it.skipIf(skipped)('uploads a file in two ways, and downloads it', async () => {
    await expectWholeClient('public')
    const service = await openEmbedded()
    opened.defer(() => service.stop())
    const user = await service.createUser(10 * MIB)
    const content = randomBytes(1_000_003)
    await writeFile(join(folder, 'sent'), content)
    await generator.run(folder, { BASE_URL: service.url, ACCESS_TOKEN: secretOf(user) })
    for (const name of ['received-raw', 'received-form']) {
      expect((await readFile(join(folder, name))).equals(content)).toBe(true)
    }
  })

  it.skipIf(skipped)('compiles for the admin API too', async () => {
    const programs = ['program.ts', 'program.py', 'program.go']
    await Promise.all(programs.map((name) => rm(join(folder, name), { force: true })))
    await expectWholeClient('admin')
  })
})
