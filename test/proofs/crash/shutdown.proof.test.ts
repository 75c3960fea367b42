import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import type { Finding } from '../../../src/core/verify/verify-run.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { openService } from '../../../src/compose/compose.ts'
import { forTest } from '../../support/for-test.ts'
import { uploadHead } from '../../support/http/multipart-body.ts'
import { startDemo } from '../../support/service/demo.ts'
import { exitOf, temporaryFolder } from '../../support/service/program.ts'
import { type Piece, type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import { readUsage } from '../../support/read-usage.ts'

const SIZE = 50_000
const userId = parseUserId('demo')

describe('SIGTERM of the program on SQLite and local files', () => {
  it('20 uploads under way at SIGTERM: those that end do so, the rest gets 503, the quota is exact (G01)', async () => {
    const DATA_DIR = await temporaryFolder(forTest())
    const { process, output, url, cookie } = await startDemo({
      environment: { DATA_DIR },
      opened: forTest(),
    })
    const client = { port: Number(new URL(url).port), cookie }
    const service = await openService(readConfig({ DATA_DIR }))
    forTest().defer(() => service.close())

    const stopped = Promise.withResolvers<void>()
    const ending = numbers(10).map((n) => upload(client, { n, go: stopped.promise }))
    const endless = numbers(10).map((n) => upload(client, { n: 10 + n, go: undefined }))
    const reserved = async () => (await readUsage(service.ledger, userId))?.reserved
    await expect.poll(reserved, { timeout: 20_000 }).toBe(20 * SIZE)
    process.kill('SIGTERM')
    await expect.poll(output).toContain('"stopping"')
    // It still serves who has not heard of it, and tells everyone to go elsewhere.
    const ready = await get(client, '/readyz')
    expect(ready.status).toBe(503)
    const late = await get(client, '/users/me/repo/none')
    expect(late).toMatchObject({ status: 404, headers: { connection: 'close' } })
    stopped.resolve()

    for (const { status } of await Promise.all(ending)) expect(status).toBe(200)
    for (const { status } of await Promise.all(endless)) expect(status).toBe(503)
    expect(await exitOf(process)).toBe(0)
    const usage = { used: 10 * SIZE, reserved: 0, fileCount: 10 }
    expect(await readUsage(service.ledger, userId)).toMatchObject(usage)
    const findings: Finding[] = []
    await service.verifier.verify({
      userId: undefined,
      repair: false,
      readOneIn: 1,
      onFinding: (finding) => findings.push(finding),
      signal: AbortSignal.timeout(30_000),
    })
    expect(findings).toEqual([])
  })
})

interface Client {
  readonly port: number
  readonly cookie: string
}

/** Sends half of a file, then when it is time the rest, or else a byte now and then. */
function upload(
  { port, cookie }: Client,
  { n, go }: { readonly n: number; readonly go: Promise<void> | undefined },
): Promise<RawExchange> {
  const path = `/users/me/repo/file-${n}`
  async function* pieces(): AsyncGenerator<Piece> {
    yield uploadHead({ method: 'PUT', path, length: SIZE, headers: { Cookie: cookie } })
    yield Buffer.alloc(SIZE / 2)
    if (go === undefined) for (let byte = 0; byte < 200; byte++) yield* ['x', { pauseMs: 500 }]
    await go
    await delay(100 * n)
    yield Buffer.alloc(SIZE / 2)
  }
  return rawRequest({ port, send: pieces(), timeoutMs: 100_000 })
}

function get({ port, cookie }: Client, path: string): Promise<RawExchange> {
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`
  return rawRequest({ port, send: [head] })
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n)
}
