import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { namesOf } from '../../http/file-requests.ts'
import { download, MIB, secretOf } from '../../http/fixture.ts'
import type { HttpProxy } from '../../support/faults/http-proxy.ts'
import { findProgram } from '../../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../../support/servers/needs.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { addCamera, issueToCamera } from './connect-camera.ts'
import { readerOf, runProgram } from './run.ts'
import { openScene } from './scene.ts'

const ARDUINO = resolve('test/clients/arduino')
const MAIN = join(ARDUINO, 'main.cpp')
const PICTURE_BYTES = 40_000
const NOON = Date.parse('2026-11-27T12:00:00Z') / 1000

const reason = await whyMissing(findProgram('g++'))

describe.skipIf(isSkipped(reason))('the sketch of the guide, on stand-ins,', () => {
  let folder: string
  let service: TestService
  let network: HttpProxy
  let user: TestUser
  let tokenId: string
  beforeEach(async () => {
    ;({ folder, service, network, user } = await openScene(0))
    await addCamera({ service, user }, 4 * PICTURE_BYTES)
    const { token, id } = await issueToCamera({ service, user })
    tokenId = id
    await build(token)
  })

  async function build(token: string): Promise<void> {
    const example = await readFile('docs/examples/camera.ino', 'utf8')
    const sketch = example
      .replace('https://files.example.com', network.url)
      .replace('crt_...', token)
    await writeFile(join(folder, 'camera.ino'), sketch)
    const include = ['-I', folder, '-I', ARDUINO]
    const warnings = ['-Wall', '-Wextra', '-Werror']
    const built = await runProgram(
      ['g++', '-std=c++17', ...warnings, ...include, '-o', join(folder, 'camera'), MAIN],
      { reader: readerOf(service, user) },
    )
    expect(built).toMatchObject({ code: 0, stderr: '' })
  }

  /** Takes that many pictures, and returns the delays in seconds. */
  async function run(pictures: number, clock = NOON): Promise<number[]> {
    const printed = await print(pictures, clock)
    return [...printed.matchAll(/^delay (\d+)$/gm)].map(([, ms]) => Number(ms) / 1000)
  }

  async function print(pictures: number, clock = NOON): Promise<string> {
    const variables = {
      PICTURES: String(pictures),
      CLOCK: String(clock),
      FLASH: join(folder, 'flash'),
    }
    const reader = readerOf(service, user)
    const { code, stdout } = await runProgram([join(folder, 'camera')], { reader, variables })
    expect(code).toBe(0)
    return stdout
  }

  const stored = () => namesOf(service, { user })

  it('uploads a picture each minute, and makes room', async () => {
    // The first delay waits for the clock.
    expect(await run(6)).toEqual([1, 59, 60, 60, 60, 60, 60])
    expect(await stored()).toEqual([
      'camera-17/2026-11-27/120200-1-3.jpg',
      'camera-17/2026-11-27/120300-1-4.jpg',
      'camera-17/2026-11-27/120400-1-5.jpg',
      'camera-17/2026-11-27/120500-1-6.jpg',
    ])
    for (const [at, name] of (await stored()).entries()) {
      const { body } = await download(service, { user, name })
      expect(body.equals(Buffer.alloc(PICTURE_BYTES, 3 + at))).toBe(true)
    }
  })

  it('neither loses nor doubles a picture whose answer is lost, and waits as it is asked', async () => {
    network.mishaps.push('unanswered', 'lost', 'lost')
    network.mishaps.push({ status: 503, retryAfter: 7 }, { status: 429, retryAfter: 90_000 })
    expect(await run(2)).toEqual([1, 1, 2, 4, 7, 3600, 60])
    const names = await stored()
    expect(names).toHaveLength(2)
    expect(network.requests).toHaveLength(7)
    for (const [at, name] of names.entries()) {
      const { body } = await download(service, { user, name })
      expect(body.equals(Buffer.alloc(PICTURE_BYTES, 1 + at))).toBe(true)
    }
  })

  it('sleeps when its token is revoked', async () => {
    const headers = { authorization: `Bearer ${secretOf(user)}` }
    const url = `${service.url}/users/me/access-tokens/${tokenId}`
    expect(await fetch(url, { method: 'DELETE', headers })).toMatchObject({ status: 204 })
    expect(await print(2)).toMatch(/: the service refuses the token\nasleep\n$/)
    expect(network.requests).toHaveLength(1)
    expect(await stored()).toEqual([])
  })

  it('reuses no name after a restart with an earlier clock', async () => {
    await addCamera({ service, user }, MIB)
    await run(2)
    await run(2, NOON - 1)
    await run(2, NOON)
    expect(await stored()).toHaveLength(6)
  })
})
