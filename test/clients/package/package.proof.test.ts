import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../packages/js/src/client.ts'
import { createPortableSha256 } from '../../../packages/js/src/sha256.ts'
import { MIB, secretOf } from '../../http/fixture.ts'
import { startBreakingProxy } from '../../support/faults/breaking-proxy.ts'
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts'
import { startWebSite, type WebSite } from '../../support/http/web-site.ts'
import { whyNoBrowser } from '../../support/http/browser.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { issueCookie, startService } from '../../support/service/running-service.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { chromiumSuite } from './chromium-suite.ts'
import { PRODUCTION } from '../resumable/stacks.ts'
import { bytesOf, createContent, digestOf, streamOf, writeFilm } from './fixture.ts'
import { type EmptyProject, installPackage, machinePath, NODES } from './installed-package.ts'

const execute = promisify(execFile)

const SIZE = 2 ** 31
const CUT_MS = 2000
const MAX_MEMORY_BYTES = 100 * MIB

const opened = new AsyncDisposableStack()
let site: WebSite
let service: TestService
let project: EmptyProject
beforeAll(async () => {
  site = await startWebSite('<!doctype html><title>A page</title>')
  opened.defer(() => site.stop())
  service = await openEmbedded({ maxFileSize: 2 * SIZE, allowedOrigins: [site.sameSite] })
  opened.defer(() => service.stop())
  project = await installPackage(opened)
})
afterAll(() => opened.disposeAsync())

const [OLD_NODE, NEW_NODE] = NODES

describe.each([
  { ...OLD_NODE, kind: 'path' },
  { ...NEW_NODE, kind: 'stream' },
])('a file of 2 GiB, by its $kind on $title, over a network that breaks every 2 s', (one) => {
  it('is uploaded and downloaded, and takes less than 100 MiB of memory', async () => {
    const path = join(project.folder, 'film.bin')
    const sha256 = await writeFilm(path, SIZE)
    const network = await startTcpProxy({ ports: [service.port] })
    const cuts = setInterval(() => network.cut(), CUT_MS)
    try {
      const user = await service.createUser(2 * SIZE)
      await project.write('large.js', PROGRAM)
      const env = {
        PATH: machinePath(),
        URL: network.url,
        TOKEN: secretOf(user),
        // Node.js itself keeps up to 100 MiB of buffers that are no longer used, also in a bare `fetch`.
        NODE_OPTIONS: '--max-semi-space-size=1',
      }
      const args = [...one.words, 'large.js', path, one.kind]
      const { stdout } = await execute(one.node, args, { cwd: project.folder, env })
      const ran = JSON.parse(stdout) as Record<string, number | string>
      console.log(`${one.title}, by its ${one.kind}: ${stdout.trim()}`)
      expect(ran).toMatchObject({ sent: sha256, got: sha256 })
      expect(Number(ran['most']) - Number(ran['idle'])).toBeLessThan(MAX_MEMORY_BYTES)
    } finally {
      clearInterval(cuts)
      await network.stop()
    }
  })
})

/** Prints what was sent and got, the milliseconds that each took, and the memory of the process, idle and at most. */
const PROGRAM = `
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createClient } from '@cloud-repository/client'

const [, , path, kind] = process.argv
const { URL: url, TOKEN: token } = process.env
const client = createClient({ url, token })
await client.capacity()
const idle = process.memoryUsage.rss()
let most = 0
setInterval(() => { most = Math.max(most, process.memoryUsage.rss()) }, 20).unref()
const began = Date.now()
const content = kind === 'path' ? { path } : createReadStream(path)
const file = await client.files.upload('film', content)
const uploaded = Date.now()
const hash = createHash('sha256')
const { stream } = await client.files.download('film')
for await (const chunk of stream) hash.update(chunk)
const times = { up: uploaded - began, down: Date.now() - uploaded }
console.log(JSON.stringify({ sent: file.sha256, got: hash.digest('hex'), ...times, idle, most }))
`

describe('the SHA-256 of browsers', () => {
  it('counts more than 2^32 bits', () => {
    const [own, other] = [createPortableSha256(), createHash('sha256')]
    const chunk = new Uint8Array(2 ** 26).fill(7)
    for (let written = 0; written <= 2 ** 29; written += chunk.length) {
      own.update(chunk)
      other.update(chunk)
    }
    expect(own.hex()).toBe(other.digest('hex'))
  })
})

describe('a service that is killed in the middle of an upload', () => {
  it.each(['bytes', 'stream'])('gets the rest of the %s when it is back', async (kind) => {
    await using running = new AsyncDisposableStack()
    const folder = await temporaryFolder(running)
    const PORT = String(await freePort())
    const environment = { DATA_DIR: folder, PORT, BASE_CAPACITY: '1GiB' }
    const start = () => startService({ environment, opened: running })
    const cookie = await issueCookie('ann', { environment, opened: running })
    const content = createContent(60 * MIB)
    let killed: Promise<unknown> | undefined
    const first = await start()
    const onProgress = ({ sent }: { readonly sent: number }): void => {
      if (sent > 20 * MIB) killed ??= first.kill().then(start)
    }
    const [, token = ''] = cookie.split('=')
    const { files } = createClient({ url: first.url, token, retry: { tries: 10 } })
    const what = kind === 'bytes' ? content.bytes : streamOf(content.bytes)
    const file = await files.upload('film', what, { onProgress })
    await killed
    expect(killed).toBeDefined()
    expect(file).toMatchObject({ sha256: content.sha256 })
  })
})

describe.skipIf(PRODUCTION.isSkipped)(`the client before ${PRODUCTION.title}`, () => {
  it('uploads, downloads and follows over breaking connections', async () => {
    await using running = new AsyncDisposableStack()
    const { service: behind, port } = await PRODUCTION.open(running, { allowedOrigins: [] })
    const proxy = await startBreakingProxy({ port, seed: 5 })
    running.defer(() => proxy.stop())
    const token = secretOf(await behind.createUser(256 * MIB))
    // Of connections that break at random, five in a row can break before they bring anything.
    const client = createClient({ url: proxy.url, token, retry: { tries: 12, firstDelay: 20 } })
    const following = client.changes.follow()[Symbol.asyncIterator]()
    const next = following.next()
    const content = createContent(20 * MIB)
    for (const what of [content.bytes, streamOf(content.bytes)]) {
      const file = await client.files.upload('film', what)
      expect(file).toMatchObject({ sha256: content.sha256 })
      const { stream } = await client.files.download('film')
      expect(digestOf(await bytesOf(stream))).toBe(content.sha256)
    }
    expect((await next).value).toMatchObject({ type: 'file.created', name: 'film' })
    await following.return?.()
  })
})

const skipped = isSkipped(await whyNoBrowser())

describe.skipIf(skipped)('the package in Chromium, where every connection breaks', () => {
  let port: number
  beforeAll(async () => {
    const proxy = await startBreakingProxy({ port: service.port, seed: 3 })
    opened.defer(() => proxy.stop())
    port = Number(new URL(proxy.url).port)
  })

  chromiumSuite({ open: () => ({ project, site, service, port }), isBroken: true })
})
