import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { namesOf } from '../../http/file-requests.ts'
import { download, MIB, secretOf, upload } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import { findProgram } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { guideBlock } from './blocks.ts'
import { addCamera, issueToCamera } from './connect-camera.ts'
import { environmentOf, readerOf, runCommands } from './run.ts'
import { openScene } from './scene.ts'

const PICTURE_BYTES = 10_000
const PREFIX = 'camera-17/'

interface Change {
  readonly type: string
  readonly name?: string
}

describe.skipIf(isSkipped(await whyMissing(findProgram('curl'))))('the camera of the guide', () => {
  let folder: string
  let service: TestService
  let network: HttpProxy
  let user: TestUser
  let token: string
  let tokenId: string
  /** What the camera has written to its standard error. */
  let said: string
  let camera: ChildProcess | undefined
  beforeEach(async () => {
    ;({ folder, service, network, user } = await openScene(5 * PICTURE_BYTES, { maxFileSize: MIB }))
    await copyFile('docs/examples/camera.sh', join(folder, 'camera.sh'))
    await addCamera({ service, user }, 5 * PICTURE_BYTES)
    ;({ token, id: tokenId } = await issueToCamera({ service, user }))
    said = ''
  })
  afterEach(() => end())

  const run = (block: string, variables = {}) =>
    runCommands(block, { reader: readerOf(service, user), variables })
  const stored = () => namesOf(service, { user })
  const queued = async () =>
    (await readdir(folder, { recursive: true }))
      .filter((name) => name.endsWith('.jpg'))
      .map((name) => PREFIX + name)
      .toSorted()

  /** Five pictures are of one day. */
  async function take(number: number, size = PICTURE_BYTES): Promise<string> {
    const day = `2026-11-2${Math.trunc(number / 5)}`
    const name = `${day}/1200${String(number).padStart(2, '0')}.jpg`
    await mkdir(join(folder, day), { recursive: true })
    await writeFile(join(folder, 'new.tmp'), Buffer.alloc(size, number))
    await rename(join(folder, 'new.tmp'), join(folder, name))
    return PREFIX + name
  }

  async function takeAll(numbers: readonly number[]): Promise<string[]> {
    const names: string[] = []
    for (const number of numbers) names.push(await take(number))
    return names
  }

  function start(variables = {}, prefix = PREFIX): void {
    const args = [join(folder, 'camera.sh'), folder, prefix]
    const env = environmentOf({ url: network.url, token }, variables)
    const started = spawn('sh', args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true })
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    camera = started
  }

  async function revoke(id: string): Promise<void> {
    const headers = { authorization: `Bearer ${secretOf(user)}` }
    const url = `${service.url}/users/me/access-tokens/${id}`
    expect(await fetch(url, { method: 'DELETE', headers })).toMatchObject({ status: 204 })
  }

  async function end(): Promise<void> {
    if (camera?.pid === undefined) return
    const exited = once(camera, 'exit')
    // The shell and the program that it waits for.
    process.kill(-camera.pid, 'SIGTERM')
    await exited
    camera = undefined
  }

  it('makes room in its share, except in what is kept, and the changes show what it took', async () => {
    // All that the account has beside the camera's share, and oldest in the folder.
    const film = `${PREFIX}film`
    await upload(service, { user, name: film, content: Buffer.alloc(4 * PICTURE_BYTES) })
    const { next_cursor: CURSOR } = await run(guideBlock('See what was evicted'))
    const names = await takeAll([0, 1, 2, 3])
    start()
    await expect.poll(queued).toEqual([])
    const [kept = '', ...others] = names
    await run(guideBlock('Keep a recording'), { NAME: kept })
    // Enough to evict it too: the change of `keep` counts as its last change.
    const later = await takeAll([4, 5, 6, 7, 8, 9])
    await expect.poll(queued).toEqual([])
    expect(await stored()).toEqual([kept, ...later.slice(2), film])
    for (const [at, name] of later.slice(2).entries()) {
      const { body } = await download(service, { user, name })
      expect(body.equals(Buffer.alloc(PICTURE_BYTES, 6 + at))).toBe(true)
    }
    // The folder of the first day is gone, and that of the last one stays.
    const days = (await readdir(folder)).filter((name) => name.startsWith('2026'))
    expect(days).toEqual(['2026-11-21'])
    const { changes } = await run(guideBlock('See what was evicted'), { CURSOR: String(CURSOR) })
    const evicted = (changes as Change[]).filter(({ type }) => type === 'file.evicted')
    expect(evicted.map(({ name }) => name)).toEqual([...others, ...later.slice(0, 2)])
  })

  it('neither loses nor doubles a picture whose answer is lost', async () => {
    const names = await takeAll([0, 1, 2])
    network.mishaps.push('unanswered', 'lost')
    start()
    await expect.poll(queued).toEqual([])
    expect(await stored()).toEqual(names)
    // Twice the first, whose second attempt is the one that is lost, and then gets 412.
    expect(network.requests).toHaveLength(5)
  })

  it('waits as long as the service asks, and keeps the picture meanwhile', async () => {
    const [name = ''] = await takeAll([0])
    network.mishaps.push({ status: 503, retryAfter: 3 })
    start()
    await expect.poll(() => network.requests.length).toBe(1)
    expect(await queued()).toEqual([name])
    await expect.poll(queued).toEqual([])
    const [first = 0, second = 0] = network.requests.map(({ at }) => at)
    expect(second - first).toBeGreaterThan(2990)
    expect(await stored()).toEqual([name])
  })

  it('ends when it is told to, also while it waits', async () => {
    await take(0)
    network.mishaps.push({ status: 503, retryAfter: 3_600 })
    start()
    await expect.poll(() => network.requests.length).toBe(1)
    camera?.kill('SIGTERM')
    await expect.poll(() => camera?.exitCode).toBe(0)
    camera = undefined
  })

  it('ends when its token is revoked, says why, and keeps the pictures', async () => {
    const [name = ''] = await takeAll([0])
    start()
    await expect.poll(queued).toEqual([])
    await revoke(tokenId)
    const later = await takeAll([1, 2])
    await expect.poll(() => camera?.exitCode).toBe(1)
    camera = undefined
    expect(said).toContain('"code":"access_token_invalid"')
    expect(await queued()).toEqual(later)
    expect(await stored()).toEqual([name])
  })

  it('ends when its token permits no upload there', async () => {
    const names = await takeAll([0])
    start({}, 'camera-18/')
    await expect.poll(() => camera?.exitCode).toBe(1)
    camera = undefined
    expect(said).toContain('"code":"scope_insufficient"')
    expect(await queued()).toEqual(names)
  })

  it('keeps the newest pictures of a long outage, and does not stop at one too large', async () => {
    const tooLarge = await take(9, MIB + 1)
    const names = await takeAll([10, 11, 12, 13, 14])
    network.mishaps.push('lost')
    start({ MAX_QUEUED: '4' })
    await expect.poll(() => network.requests.length).toBe(1)
    expect(await queued()).toEqual(names.slice(1))
    await expect.poll(queued).toEqual([])
    expect(await stored()).toEqual(names.slice(1))
    await take(9, MIB + 1)
    const next = await take(15)
    await expect.poll(queued).toEqual([])
    expect(await stored()).toEqual([...names.slice(1), next])
    expect(await stored()).not.toContain(tooLarge)
  })

  it('may let its recordings expire, and no more', async () => {
    const url = `${service.url}/users/me/repo/camera-17/a.jpg`
    const headers = { authorization: `Bearer ${token}` }
    const put = await fetch(`${url}?expires_in=604800`, { method: 'PUT', headers, body: 'x' })
    const { expires_at: expiresAt } = (await put.json()) as { readonly expires_at: string }
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 600_000_000)
    expect(await fetch(url, { headers })).toMatchObject({ status: 200 })
    expect(await fetch(url, { method: 'DELETE', headers })).toMatchObject({ status: 403 })
    const others = `${service.url}/users/me/repo/b.jpg`
    expect(await fetch(others, { headers })).toMatchObject({ status: 403 })
  })
})
