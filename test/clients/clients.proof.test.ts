import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { jsonOf, MIB, secretOf, upload, usageOf } from '../http/fixture.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { type HttpProxy, startHttpProxy } from '../support/faults/http-proxy.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'
import { build, CLIENTS, type Ran, runClient, whyNot } from './programs.ts'
import { isSkipped } from '../support/servers/needs.ts'

const FILE_NAME = 'letters/2026 ü/résumé & 100 % #1?.pdf'
const WRONG_TOKEN = `crt_${'A'.repeat(43)}`

const missing = new Map<string, string>()
for (const client of CLIENTS) {
  const reason = await whyNot(client)
  if (reason !== undefined) missing.set(client.title, reason)
}

describe.each(CLIENTS)('the service, used by $title,', (client) => {
  const skipped = isSkipped(missing.get(client.title))

  let service: TestService
  let network: HttpProxy
  let user: TestUser
  let built: Awaited<ReturnType<typeof createFolder>>
  let folder: Awaited<ReturnType<typeof createFolder>>

  beforeAll(async () => {
    if (skipped) return
    built = await createFolder('client')
    await build(client, built.path)
    service = await openEmbedded()
    network = await startHttpProxy(service)
  })
  afterAll(async () => {
    await network?.stop()
    await service?.stop()
    await built?.remove()
  })
  beforeEach(async () => {
    if (skipped) return
    user = await service.createUser(64 * MIB)
    folder = await createFolder('files')
    network.mishaps.length = 0
    network.requests.length = 0
  })
  afterEach(() => folder?.remove())

  /** Runs the client against the service itself, or through the network of the test. */
  const run = (args: readonly string[], { token = secretOf(user), url = service.url } = {}) => {
    const environment = { BASE_URL: url, ACCESS_TOKEN: token }
    return runClient(client, { folder: built.path, args, environment })
  }

  async function createFile(size: number): Promise<{ path: string; content: Buffer }> {
    const path = join(folder.path, `to send; ${size}.bin`)
    const content = randomBytes(size)
    await writeFile(path, content)
    return { path, content }
  }

  /** Makes the client's file of that content on the service; resolves with its entity-tag. */
  async function place(content: Buffer): Promise<string> {
    const reply = await upload(service, { user, name: FILE_NAME, content })
    expect(reply.status).toBe(200)
    return String(jsonOf(reply)['etag'])
  }

  async function expectDownload(content: Buffer, options?: Parameters<typeof run>[1]) {
    const path = join(folder.path, 'received.bin')
    expectSuccess(await run(['download', FILE_NAME, path], options))
    expect((await readFile(path)).equals(content)).toBe(true)
    const left = (await readdir(folder.path)).filter((name) => name.startsWith('received.bin.'))
    expect(left).toEqual([])
  }

  /** Resolves when the client has as many bytes of a download on its disk. */
  async function kept(bytes: number): Promise<void> {
    const path = join(folder.path, 'received.bin')
    const sizeOf = (file: string): Promise<number> =>
      stat(file).then(
        ({ size }) => size,
        () => 0,
      )
    const enough = async (): Promise<boolean> => {
      const sizes = await Promise.all([`${path}.part`, `${path}.rest`].map(sizeOf))
      return sizes.reduce((sum, size) => sum + size, 0) >= bytes
    }
    await vi.waitUntil(enough, { timeout: 20_000, interval: 10 })
  }

  it.skipIf(skipped)('takes a file and gives it back, then the one that replaces it', async () => {
    for (const size of [12 * MIB + 1, 3 * MIB, 0]) {
      const { path, content } = await createFile(size)
      const ran = await run(['upload', path, FILE_NAME])
      expectSuccess(ran)
      expect(JSON.parse(ran.stdout)).toMatchObject({ name: FILE_NAME, size })
      await expectDownload(content)
    }
  })

  it.skipIf(skipped)('has it write over the version that it knows alone', async () => {
    const etag = await place(randomBytes(100))
    const { path, content } = await createFile(200)
    expectSuccess(await run(['upload', path, FILE_NAME, etag]))
    const { path: other } = await createFile(300)
    const { code, stderr } = await run(['upload', other, FILE_NAME, etag])
    expect({ code, stderr }).toMatchObject({ code: 1 })
    expect(stderr).toMatch(/412 \{.*"code":"precondition_failed"/)
    await expectDownload(content)
  })

  it.skipIf(skipped)('refuses a wrong token with its code, and nothing changes', async () => {
    const before = randomBytes(1000)
    await place(before)
    const { path } = await createFile(900_000)
    const received = join(folder.path, 'refused.bin')
    await writeFile(received, 'mine')
    for (const args of [
      ['upload', path, FILE_NAME],
      ['download', FILE_NAME, received],
    ]) {
      const { code, stderr } = await run(args, { token: WRONG_TOKEN })
      expect(code).toBe(1)
      expect(stderr).toMatch(/403 \{.*"code":"access_token_invalid"/)
      expect(stderr).not.toContain('full')
    }
    expect(await readFile(received, 'utf8')).toBe('mine')
    await expectDownload(before)
  })

  it.skipIf(skipped)('is full, which it is told once with what is left', async () => {
    await service.setCapacity(user, 1000)
    const before = randomBytes(900)
    await place(before)
    const { path } = await createFile(1001)
    const { code, stderr } = await run(['upload', path, FILE_NAME], { url: network.url })
    expect(code).toBe(1)
    expect(stderr).toMatch(/403 \{.*"code":"capacity_exceeded"/)
    expect(stderr).toContain('full: 100 bytes are left')
    // A proxy may refuse an encoded slash.
    expect(network.requests.map((met) => met.path.split('/').length)).toEqual([7])
    await expectDownload(before)
  })

  it.skipIf(skipped)('is asked again after the time that it says, or when it is lost', async () => {
    const { path, content } = await createFile(100_000)
    network.mishaps.push({ status: 503, retryAfter: 2 }, { status: 429, retryAfter: 2 }, 'lost')
    expectSuccess(await run(['upload', path, FILE_NAME], { url: network.url }))
    const [first = 0, second = 0, third = 0, ...more] = network.requests.map(({ at }) => at)
    expect(more).toHaveLength(1)
    for (const pause of [second - first, third - second]) expect(pause).toBeGreaterThan(1990)
    expect(await usageOf(service, user)).toMatchObject({ used: content.length, fileCount: 1 })
    network.mishaps.push('lost', { status: 503, retryAfter: 0 })
    await expectDownload(content, { url: network.url })
  })

  it.skipIf(skipped)('is given up after five tries, with what it said last', async () => {
    const refusals = Array.from({ length: 9 }, () => ({ status: 503, retryAfter: 0 }) as const)
    const { path } = await createFile(10)
    for (const args of [
      ['upload', path, FILE_NAME],
      ['download', FILE_NAME, join(folder.path, 'received.bin')],
    ]) {
      network.mishaps.splice(0, Infinity, ...refusals)
      network.requests.length = 0
      const { code, stderr } = await run(args, { url: network.url })
      expect({ code, tries: network.requests.length }).toEqual({ code: 1, tries: 5 })
      expect(stderr).toMatch(/503 \{.*"code":"unavailable"/)
    }
  })

  it.skipIf(skipped)('is given up at once when it asks for more than a minute', async () => {
    const { path } = await createFile(10)
    for (const args of [
      ['upload', path, FILE_NAME],
      ['download', FILE_NAME, join(folder.path, 'received.bin')],
    ]) {
      network.mishaps.splice(0, Infinity, { status: 429, retryAfter: 604_799 })
      network.requests.length = 0
      const { code, stderr } = await run(args, { url: network.url })
      expect({ code, tries: network.requests.length }).toEqual({ code: 1, tries: 1 })
      expect(stderr).toMatch(/429 \{.*"code":"too_many_requests"/)
    }
  })

  it.skipIf(skipped)('gives the rest of a download that was cut off', async () => {
    const content = randomBytes(3 * MIB)
    const etag = await place(content)
    const [first, second] = [0.5 * MIB, 1.2 * MIB]
    network.mishaps.push(
      { cutAfter: MIB, meanwhile: () => kept(first) },
      { cutAfter: MIB, meanwhile: () => kept(second) },
    )
    await expectDownload(content, { url: network.url })
    // Libraries drop what they hold when the connection is lost, so it is seldom all that has come.
    const [whole, ...parts] = network.requests.map(({ headers }) => rangeOf(headers))
    expect(whole).toEqual({ from: 0, tag: undefined })
    expect(parts.map(({ tag }) => tag)).toEqual([`"${etag}"`, `"${etag}"`])
    for (const [at, least] of [first, second].entries()) {
      expect(parts[at]?.from).toBeGreaterThanOrEqual(least)
      expect(parts[at]?.from).toBeLessThanOrEqual((at + 1) * MIB)
    }
  })

  it.skipIf(skipped)('gives the whole of a file that has become another meanwhile', async () => {
    const content = randomBytes(2 * MIB)
    const etag = await place(randomBytes(3 * MIB))
    const meanwhile = async (): Promise<void> => {
      await kept(0.5 * MIB)
      await place(content)
    }
    network.mishaps.push({ cutAfter: MIB, meanwhile })
    await expectDownload(content, { url: network.url })
    const [, again, ...more] = network.requests.map(({ headers }) => rangeOf(headers))
    expect(again?.from).toBeGreaterThanOrEqual(0.5 * MIB)
    expect({ tag: again?.tag, more }).toEqual({ tag: `"${etag}"`, more: [] })
  })

  it.skipIf(skipped)(
    'gives what an earlier run had not got yet, if there is anything',
    async () => {
      const content = randomBytes(MIB)
      const etag = await place(content)
      for (const have of [1000, content.length]) {
        network.requests.length = 0
        const path = join(folder.path, 'received.bin')
        await writeFile(`${path}.part`, content.subarray(0, have))
        await writeFile(`${path}.etag`, `"${etag}"`)
        await expectDownload(content, { url: network.url })
        const asked = network.requests.map(({ headers }) => headers.range)
        expect(asked).toEqual([`bytes=${have}-`])
      }
    },
  )
})

/** From which byte on a request wants what, and of which version. */
function rangeOf(headers: IncomingHttpHeaders): { from: number; tag: unknown } {
  const [, from = '0'] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? []
  return { from: Number(from), tag: headers['if-range'] }
}

function expectSuccess({ code, stderr }: Ran): void {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
}
