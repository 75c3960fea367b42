import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { jsonOf, MIB, type OpenService, pathOf, upload } from '../http/fixture.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { openOnS3 } from '../support/service/s3-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'

const execute = promisify(execFile)

const minio = inject('minio')

describe('curl on local files', () => {
  resumeSuite(openEmbedded)
})

describe.skipIf(minio === undefined)('curl on MinIO', () => {
  resumeSuite((options) => openOnS3(minio, options))
})

/** What `curl -C -` makes of a download that was cut off. */
function resumeSuite(open: OpenService): void {
  const content = randomBytes(9 * MIB + 1)
  let service: TestService
  let user: TestUser
  let folder: Awaited<ReturnType<typeof createFolder>>
  let etag: string

  beforeAll(async () => {
    service = await open()
    user = await service.createUser(64 * MIB)
    folder = await createFolder('resume')
  })
  afterAll(async () => {
    await service?.stop()
    await folder?.remove()
  })

  /** Leaves the first `have` bytes of the download behind. */
  async function begin(have: number): Promise<string> {
    etag = `"${String(jsonOf(await upload(service, { user, content }))['etag'])}"`
    const path = join(folder.path, `${have}.bin`)
    await writeFile(path, content.subarray(0, have))
    return path
  }

  const resume = (path: string, ...more: string[]) =>
    curl(['--continue-at', '-', '--output', path, ...more], { service, user })

  it('goes on where it was cut off, and has every byte', async () => {
    for (const have of [1, 4 * MIB + 3, content.length - 1]) {
      const path = await begin(have)
      const { code, stdout } = await resume(path, '--header', `If-Match: ${etag}`)
      expect({ code, stdout }).toEqual({ code: 0, stdout: `206 ${content.length - have}` })
      expect((await readFile(path)).equals(content)).toBe(true)
    }
  })

  it('leaves alone what is complete already', async () => {
    const path = await begin(content.length)
    const { code, stdout } = await resume(path)
    expect({ code, stdout: stdout.slice(0, 3) }).toEqual({ code: 0, stdout: '416' })
    expect((await readFile(path)).equals(content)).toBe(true)
  })

  it.each([
    ['If-Match', { code: 22, stdout: '412' }],
    ['If-Range', { code: 33, stdout: '200' }],
  ])('never joins two versions when it says %s', async (header, outcome) => {
    const path = await begin(MIB)
    await upload(service, { user, content: randomBytes(content.length) })
    const { code, stdout } = await resume(path, '--fail', '--header', `${header}: ${etag}`)
    expect({ code, stdout: stdout.slice(0, 3) }).toEqual(outcome)
    expect((await readFile(path)).equals(content.subarray(0, MIB))).toBe(true)
  })

  it('remembers the tag that it needs to go on', async () => {
    const path = await begin(MIB)
    const saved = `${path}.etag`
    await curl(['--output', '/dev/null', '--etag-save', saved], { service, user })
    expect((await readFile(saved, 'utf8')).trim()).toBe(etag)
  })
}

interface Run {
  readonly code: number
  /** Status, and bytes of content that came. */
  readonly stdout: string
}

async function curl(
  args: readonly string[],
  { service, user }: { readonly service: TestService; readonly user: TestUser },
): Promise<Run> {
  const target = ['--cookie', user.cookie, service.url + pathOf('file.bin')]
  const told = ['--silent', '--noproxy', '*', '--write-out', '%{http_code} %{size_download}']
  try {
    return { code: 0, ...(await execute('curl', [...told, ...args, ...target])) }
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
      return error as Error & Run
    }
    throw error
  }
}
