import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { download, MIB, usageOf } from '../../http/fixture.ts'
import { type BreakingProxy, startBreakingProxy } from '../../support/faults/breaking-proxy.ts'
import { whyNoBrowser } from '../../support/http/browser.ts'
import { startWebSite, type WebSite } from '../../support/http/web-site.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { UPLOADERS } from './programs.ts'
import type { Stack } from './stacks.ts'
import {
  openUploadPage,
  programClient,
  readUploadPage,
  TIMEOUT_MS,
  type UploadClient,
} from './upload-clients.ts'

/** With the name in metadata that it needs. */
const FILES = {
  'empty résumé.bin': 0,
  '1 B; x=1.bin': 1,
  '300 KiB, & more.bin': 300 * 1024,
  '5 MiB.bin': 5 * MIB,
  '50 MiB.bin': 50 * MIB,
}

const ALL_BYTES = Object.values(FILES).reduce((sum, size) => sum + size, 0)

const CLIENTS: readonly UploadClient[] = [
  ...(await Promise.all(UPLOADERS.map(programClient))),
  {
    title: 'tus-js-client in Chromium',
    isSkipped: isSkipped(await whyNoBrowser()),
    open: openUploadPage,
  },
]

/** Uploads files of all sizes with each client through a proxy that breaks every connection. */
export function resumableClientsSuite(stack: Stack): void {
  describe(`with ${stack.title}`, () => {
    let opened: AsyncDisposableStack
    let site: WebSite
    let service: TestService
    let port: number
    let folder: string
    const digests = new Map<string, string>()

    beforeAll(async () => {
      if (stack.isSkipped) return
      opened = new AsyncDisposableStack()
      site = await startWebSite(await readUploadPage())
      opened.defer(() => site.stop())
      const started = await stack.open(opened, { allowedOrigins: [site.sameSite] })
      service = started.service
      port = started.port
      folder = await temporaryFolder(opened)
      for (const [name, size] of Object.entries(FILES)) {
        const content = randomBytes(size)
        digests.set(name, sha256(content))
        await writeFile(join(folder, name), content)
      }
    })
    afterAll(() => opened?.disposeAsync())

    describe.each(CLIENTS)('$title', (client) => {
      const skipped = stack.isSkipped || client.isSkipped

      it.skipIf(skipped)(
        'gets every file there over connections that break (R01, R10)',
        { timeout: 2 * TIMEOUT_MS },
        async () => {
          await using started = new AsyncDisposableStack()
          const user = await service.createUser(512 * MIB)
          const seed = CLIENTS.indexOf(client) + 1
          const proxy = await startBreakingProxy({ port, seed })
          started.defer(() => proxy.stop())
          const send = await client.open(started, { url: proxy.url, user, site })
          for (const name of digests.keys()) await send({ path: join(folder, name), name })

          for (const [name, digest] of digests) {
            const { status, body } = await download(service, { user, name })
            expect({ name, status, digest: sha256(body) }).toEqual({ name, status: 200, digest })
          }
          expect(await usageOf(service, user)).toMatchObject({ used: ALL_BYTES, fileCount: 5 })
          expectBroken(proxy)
          expectOffsetsNeverShrink(proxy)
        },
      )
    })
  })
}

/** Without breaks the rest would show nothing. */
function expectBroken({ breaks, told }: BreakingProxy): void {
  const requests = breaks.filter(({ during }) => during === 'request')
  const endings = new Set(requests.map(({ client, server }) => `${client} ${server}`))
  expect(endings.size).toBe(4)
  expect(requests.length).toBeGreaterThan(50)
  expect(breaks.length).toBeGreaterThan(requests.length)
  expect(told.length).toBeGreaterThan(40)
}

/** A client that began anew would be told a smaller one, too. */
function expectOffsetsNeverShrink({ told }: BreakingProxy): void {
  const reached = new Map<string, number>()
  for (const { metadata, offset } of told) {
    expect(offset).toBeGreaterThanOrEqual(reached.get(metadata) ?? 0)
    reached.set(metadata, offset)
  }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
