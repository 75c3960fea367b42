import { randomBytes } from 'node:crypto'
import { copyFile, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { MIB } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import { findProgram } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { guideBlock } from './blocks.ts'
import { readerOf, runCommands, runProgram } from './run.ts'
import { openScene } from './scene.ts'

const NAME = 'firmware/cam2/stable.bin'
const [UPDATED, FAILED, UNCHANGED] = [0, 1, 3]

const needed = Promise.all(['curl', 'openssl'].map(findProgram))

describe.skipIf(isSkipped(await whyMissing(needed)))('the firmware of the guide', () => {
  let folder: string
  let service: TestService
  let network: HttpProxy
  let user: TestUser
  let token: string
  beforeEach(async () => {
    ;({ folder, service, network, user } = await openScene(64 * MIB, {
      historyLifetimeMs: 86_400_000,
    }))
    await copyFile('docs/examples/update.sh', join(folder, 'update.sh'))
    token = String((await run(guideBlock('Publish')))['access_token'])
  })

  const run = (block: string, variables = {}) =>
    runCommands(block, { reader: readerOf(service, user), variables, folder })

  async function publish(size: number): Promise<Buffer> {
    const content = randomBytes(size)
    await writeFile(join(folder, 'firmware.bin'), content)
    expect(await run(guideBlock('Publish', 1))).toMatchObject({ name: NAME, size })
    return content
  }

  async function update(name = NAME): Promise<{ code: number; stderr: string }> {
    const args = [join(folder, 'update.sh'), name, join(folder, 'installed')]
    const { code, stderr } = await runProgram(['sh', ...args], {
      reader: { url: network.url, token },
    })
    return { code, stderr }
  }

  async function expectInstalled(content: Buffer): Promise<void> {
    expect((await readFile(join(folder, 'installed'))).equals(content)).toBe(true)
    const left = (await readdir(folder)).filter((name) => name.startsWith('installed'))
    expect(left.toSorted()).toEqual(['installed', 'installed.etag'])
  }

  const rangesAsked = () => network.requests.map(({ headers }) => headers.range)

  it('is downloaded when there is another release, and when an earlier one is restored', async () => {
    const first = await publish(MIB)
    expect((await update()).code).toBe(UPDATED)
    await expectInstalled(first)
    expect((await update()).code).toBe(UNCHANGED)
    const second = await publish(2 * MIB)
    expect((await update()).code).toBe(UPDATED)
    await expectInstalled(second)
    const { versions } = await run(guideBlock('Go back to an earlier release'))
    const [{ version: VERSION = '' } = {}] = versions as { version?: string }[]
    await run(guideBlock('Go back to an earlier release', 1), { VERSION })
    expect((await update()).code).toBe(UPDATED)
    await expectInstalled(first)
    expect((await update()).code).toBe(UNCHANGED)
    await expectInstalled(first)
  })

  it('continues where a download broke off, after the time that the service asks for', async () => {
    const content = await publish(3 * MIB)
    network.mishaps.push({ cutAfter: MIB }, { status: 503, retryAfter: 2 }, { cutAfter: MIB })
    expect((await update()).code).toBe(UPDATED)
    await expectInstalled(content)
    expect(rangesAsked()).toEqual([
      undefined,
      `bytes=${MIB}-`,
      `bytes=${MIB}-`,
      `bytes=${2 * MIB}-`,
    ])
    const [, second = 0, third = 0] = network.requests.map(({ at }) => at)
    expect(third - second).toBeGreaterThan(1990)
  })

  it('is the whole new release if it was replaced meanwhile', async () => {
    await publish(3 * MIB)
    let latest: Buffer = Buffer.alloc(0)
    const meanwhile = async () => (latest = await publish(2 * MIB))
    network.mishaps.push({ cutAfter: MIB, meanwhile })
    expect((await update()).code).toBe(UPDATED)
    expect(rangesAsked()).toEqual([undefined, `bytes=${MIB}-`])
    await expectInstalled(latest)
  })

  it('is continued by the next run, and by one that has every byte already', async () => {
    const content = await publish(3 * MIB)
    network.mishaps.push({ cutAfter: MIB }, { status: 429, retryAfter: 3600 })
    expect((await update()).code).toBe(FAILED)
    expect((await update()).code).toBe(UPDATED)
    expect(rangesAsked().at(-1)).toBe(`bytes=${MIB}-`)
    await expectInstalled(content)
    const next = await publish(3 * MIB)
    network.mishaps.push({ cutAfter: MIB }, { status: 429, retryAfter: 3600 })
    await update()
    await writeFile(join(folder, 'installed.part'), next)
    expect((await update()).code).toBe(UPDATED)
    await expectInstalled(next)
  })

  it('is not installed if its digest does not match', async () => {
    const content = await publish(MIB)
    network.mishaps.push({ cutAfter: 1000 }, { status: 429, retryAfter: 3600 })
    await update()
    await writeFile(join(folder, 'installed.part'), Buffer.alloc(1000))
    const { code, stderr } = await update()
    expect({ code, stderr }).toEqual({ code: FAILED, stderr: 'The digest does not match.\n' })
    expect(await readdir(folder)).not.toContain('installed')
    expect((await update()).code).toBe(UPDATED)
    await expectInstalled(content)
  })

  it('is the only thing that the token of the devices may read', async () => {
    const { code, stderr } = await update('recording.mp4')
    expect(code).toBe(FAILED)
    expect(stderr).toContain('"code":"scope_insufficient"')
  })
})
