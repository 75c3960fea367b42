import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../support/embedded-service.ts'
import { createFolder } from '../support/local-server.ts'
import type { TestService, TestUser } from '../support/test-service.ts'

const execute = promisify(execFile)

interface Client {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** Succeeds where the client can run. */
  readonly probe: readonly [string, ...string[]]
  readonly needs: string
}

const CLIENTS: readonly Client[] = [
  {
    name: 'curl',
    command: ['sh', here('client.sh')],
    probe: ['curl', '--version'],
    needs: 'curl',
  },
  {
    name: 'Python with requests',
    command: ['python3', here('client.py')],
    probe: ['python3', '-c', 'import requests'],
    needs: 'python3 with the package requests',
  },
  {
    name: 'fetch and FormData of Node',
    command: [process.execPath, here('client.mjs')],
    probe: [process.execPath, '--version'],
    needs: 'node',
  },
  {
    name: 'net/http of Go',
    command: ['go', 'run', here('client.go')],
    probe: ['go', 'version'],
    needs: 'go',
  },
  {
    name: 'HttpClient of Java',
    command: ['java', here('Client.java')],
    probe: ['java', '--describe-module', 'jdk.compiler'],
    needs: 'a JDK, 17 or later',
  },
]

const FILE_NAME = 'résumé & 100 % #1?.pdf'
const MIB = 2 ** 20

const missing = new Map<string, string>()
for (const client of CLIENTS) {
  const reason = await whyNot(client)
  if (reason !== undefined) missing.set(client.name, reason)
}

describe.each(CLIENTS)('the service, used with $name,', (client) => {
  const reason = missing.get(client.name)
  const skipped = reason !== undefined && process.env['REQUIRE_SERVICES'] !== '1'
  if (skipped) console.warn(`SKIPPED, and worth mending: ${reason}`)

  let service: TestService
  let user: TestUser
  let folder: Awaited<ReturnType<typeof createFolder>>

  beforeAll(async () => {
    if (skipped) return
    if (reason !== undefined) throw new Error(reason)
    service = await openEmbedded()
    user = await service.createUser(64 * MIB)
    folder = await createFolder('client')
  })
  afterAll(async () => {
    await service?.stop()
    await folder?.remove()
  })

  const run = (args: readonly string[], token = tokenOf(user)) =>
    runClient(client, { args, environment: { BASE_URL: service.url, ACCESS_TOKEN: token } })

  async function createFile(size: number): Promise<{ path: string; content: Buffer }> {
    const path = join(folder.path, `to send; ${size}.bin`)
    const content = randomBytes(size)
    await writeFile(path, content)
    return { path, content }
  }

  async function expectDownload(content: Buffer): Promise<void> {
    const path = join(folder.path, 'received.bin')
    expect(await run(['download', FILE_NAME, path])).toMatchObject({ code: 0 })
    expect((await readFile(path)).equals(content)).toBe(true)
  }

  it.skipIf(skipped)('takes a file and gives it back, then the one that replaces it', async () => {
    for (const size of [12 * MIB + 1, 3 * MIB]) {
      const { path, content } = await createFile(size)
      const { code, stdout, stderr } = await run(['upload', path, FILE_NAME])
      expect({ code, stderr }).toMatchObject({ code: 0 })
      expect(JSON.parse(stdout)).toMatchObject({ name: FILE_NAME, size })
      await expectDownload(content)
    }
  })

  it.skipIf(skipped)(
    'refuses a wrong token with 403 and its code, and nothing changes',
    async () => {
      const before = await createFile(1000)
      expect(await run(['upload', before.path, FILE_NAME])).toMatchObject({ code: 0 })
      const { path } = await createFile(900_000)
      const wrong = `crt_${'A'.repeat(43)}`
      const received = join(folder.path, 'refused.bin')
      await writeFile(received, 'mine')
      for (const args of [
        ['upload', path, FILE_NAME],
        ['download', FILE_NAME, received],
      ]) {
        const { code, stderr } = await run(args, wrong)
        expect(code).toBe(1)
        expect(stderr).toMatch(/403 \{.*"code":"access_token_invalid"/)
      }
      expect(await readFile(received, 'utf8')).toBe('mine')
      await expectDownload(before.content)
    },
  )
})

interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function runClient(
  { command: [program, ...first] }: Client,
  { args, environment }: { args: readonly string[]; environment: Record<string, string> },
): Promise<Run> {
  const env = { ...process.env, ...environment }
  try {
    return { code: 0, ...(await execute(program, [...first, ...args], { env, timeout: 60_000 })) }
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
      return error as Error & Run
    }
    throw error
  }
}

async function whyNot({
  name,
  needs,
  probe: [program, ...args],
}: Client): Promise<string | undefined> {
  return execute(program, args, { timeout: 30_000 }).then(
    () => undefined,
    () => `No ${name}: ${needs} is missing`,
  )
}

function tokenOf({ cookie }: TestUser): string {
  return cookie.slice('access_token='.length)
}

function here(file: string): string {
  return join(import.meta.dirname, file)
}
