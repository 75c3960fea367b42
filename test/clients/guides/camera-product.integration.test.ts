import { execFile, spawn } from 'node:child_process'
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from '../../documents/pages.ts'
import { findProgram, freePort } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import { WEBHOOK_SECRET } from '../../support/servers/webhook-receiver.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { startService } from '../../support/service/running-service.ts'
import { installPackage as installFromNpm } from '../package/installed-package.ts'
import { installPackage as installFromPyPi, whyNoPython } from '../python/installed-package.ts'

const execute = promisify(execFile)

const PATH = 'docs/camera-product.md'
const ADMIN_TOKEN = 'the-admin-token-of-the-guide'
const PICTURE_BYTES = 10_000

const blocks = blocksOf({ path: PATH, text: await readFile(PATH, 'utf8') })

function blockOf(language: string, words: string): string {
  const block = blocks.find((each) => each.language === language && each.text.includes(words))
  if (block === undefined) throw new Error(`${PATH} has no ${language} with "${words}".`)
  return block.text
}

/** Where a reader has installed the package of a language, and what runs a program of it. */
interface Product {
  readonly folder: string
  readonly program: string
}

async function installTypeScript(opened: AsyncDisposableStack): Promise<Product> {
  const { folder } = await installFromNpm(opened)
  await symlink(
    resolve('node_modules/standardwebhooks'),
    join(folder, 'node_modules/standardwebhooks'),
  )
  return { folder, program: process.execPath }
}

async function installPython(opened: AsyncDisposableStack): Promise<Product> {
  const { folder, python } = await installFromPyPi(opened)
  return { folder, program: python }
}

const missing = (await whyNoPython()) ?? (await whyMissing(findProgram('curl')))

describe.skipIf(isSkipped(missing)).each([
  { language: 'ts', extension: 'mts', install: installTypeScript },
  { language: 'python', extension: 'py', install: installPython },
] as const)('the camera product of the guide: $language', ({ language, extension, install }) => {
  const opened = new AsyncDisposableStack()
  let product: Product
  let addresses: readonly (readonly [inTheGuide: string, here: string])[]
  let received = ''
  const tokens: Record<string, string> = {}
  beforeAll(async () => {
    product = await install(opened)
    const [port, adminPort, hooks] = [await freePort(), await freePort(), await freePort()]
    const environment = {
      DATA_DIR: await temporaryFolder(opened),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      ADMIN_TOKEN,
      WEBHOOK_SECRET,
      WEBHOOK_URL: `http://127.0.0.1:${hooks}/`,
    }
    addresses = [
      ['http://127.0.0.1:3000', `http://127.0.0.1:${port}`],
      ['http://127.0.0.1:3001', `http://127.0.0.1:${adminPort}`],
    ]
    await listen(hooks)
    await startService({ environment, opened })
    await writeFile(join(product.folder, 'picture.jpg'), Buffer.alloc(PICTURE_BYTES, 7))
  })
  afterAll(() => opened.disposeAsync())

  async function listen(port: number): Promise<void> {
    const name = `receiver.${extension}`
    const receiver = join(product.folder, name)
    await copyFile(join('docs/examples', name), receiver)
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET }
    const child = spawn(product.program, [receiver], { env })
    child.stdout.setEncoding('utf8').on('data', (text: string) => (received += text))
    opened.defer(() => void child.kill())
  }

  const here = (text: string): string =>
    addresses.reduce((changed, [inTheGuide, address]) => changed.replace(inTheGuide, address), text)

  async function run(words: string): Promise<string> {
    const name = `program.${extension}`
    // The camera is full after three pictures.
    const program = here(blockOf(language, words)).replace('2_000_000_000', '30_000')
    await writeFile(join(product.folder, name), program)
    const env = { ...process.env, ADMIN_TOKEN, ...tokens }
    const { stdout } = await execute(product.program, [name], { cwd: product.folder, env })
    return stdout
  }

  it('makes the account, the camera and its tokens', async () => {
    const printed = await run('CAMERA_TOKEN=')
    for (const [, name = '', token = ''] of printed.matchAll(/(\w+_TOKEN)=(crt_\S+)/g)) {
      tokens[name] = token
    }
    expect(Object.keys(tokens)).toEqual(['CAMERA_TOKEN', 'APP_TOKEN'])
  })

  it('stores a picture by curl, and by a program, of which the back end hears', async () => {
    const command = here(blockOf('sh', 'picture.jpg'))
    await execute('sh', ['-euc', command], {
      cwd: product.folder,
      env: { ...process.env, ...tokens },
    })
    const name = (await run('picture.jpg')).trim()
    expect(name).toMatch(/^camera-17\/\d{4}-\d\d-\d\d\/\d{6}\..*jpg$/)
    await expect.poll(() => received).toContain(name)
    const event = received.split('\n').find((line) => line.includes(name)) ?? ''
    expect(JSON.parse(event)).toMatchObject({
      type: 'file.created',
      data: { name, size: PICTURE_BYTES, media_type: 'image/jpeg', device_id: 'camera-17' },
    })
  })

  it('lists the pictures, of which the oldest make room, and shares them by a link', async () => {
    const last = [await run('picture.jpg'), await run('picture.jpg'), await run('picture.jpg')]
    const names = last.map((name) => name.trim())
    const [link = '', ...listed] = (await run('links.create')).trim().split('\n').toReversed()
    expect(listed.toReversed()).toEqual(names.map((name) => `${name} ${PICTURE_BYTES}`))
    const visited = await fetch(link, { headers: { accept: 'application/json' } })
    expect(await visited.json()).toMatchObject({
      label: 'Front door',
      files: names.map(() => ({ size: PICTURE_BYTES })),
    })
  })
})
