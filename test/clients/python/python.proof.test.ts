import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MIB, secretOf } from '../../http/fixture.ts'
import { startBreakingProxy } from '../../support/faults/breaking-proxy.ts'
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts'
import { freePort } from '../../support/servers/local-server.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { temporaryFolder } from '../../support/service/program.ts'
import { issueCookie, startService } from '../../support/service/running-service.ts'
import { createContent, writeFilm } from '../package/fixture.ts'
import { PRODUCTION } from '../resumable/stacks.ts'
import {
  installPackage,
  type Mode,
  type PythonProject,
  startSession,
  whyNoPython,
} from './installed-package.ts'

const SIZE = 2 ** 31
const CUT_MS = 2000
const MAX_MEMORY_BYTES = 100 * MIB
const MODES: readonly Mode[] = ['Client', 'AsyncClient']

describe.skipIf(isSkipped(await whyNoPython()))('the Python package', () => {
  const opened = new AsyncDisposableStack()
  let project: PythonProject
  beforeAll(async () => {
    project = await installPackage(opened)
  })
  afterAll(() => opened.disposeAsync())

  describe.each([
    ['a path', 'Client', 'Path("film.bin")'],
    ['an iterator', 'AsyncClient', 'iter(lambda: file.read(1_000_000), b"")'],
  ] as const)(
    'a file of 2 GiB, by %s with %s, over a network that breaks every 2 s',
    (_, mode, content) => {
      it('is uploaded and downloaded, and takes less than 100 MiB of memory', async () => {
        await using running = new AsyncDisposableStack()
        const service = await openEmbedded({ maxFileSize: 2 * SIZE })
        running.defer(() => service.stop())
        const sha256 = await writeFilm(join(project.folder, 'film.bin'), SIZE)
        const network = await startTcpProxy({ ports: [service.port] })
        running.defer(() => network.stop())
        const TOKEN = secretOf(await service.createUser(2 * SIZE))
        const environment = { URL: network.url, DIRECT: service.url, TOKEN }
        const session = await startSession(running, { project, mode, environment })
        const cuts = setInterval(() => network.cut(), CUT_MS)
        running.defer(() => clearInterval(cuts))
        const ran = (await session.run(`
        import time
        # In KiB: what the process has in memory, and the most that it ever had.
        memory = lambda name: int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0])
        client = connect(retry=Retry())
        await client.capacity()
        idle = memory("VmRSS")
        times = [time.monotonic()]
        with open("film.bin", "rb") as file:
            sent = (await client.files.upload("film", ${content}))["sha256"]
        times.append(time.monotonic())
        digest = hashlib.sha256()
        async for chunk in await client.files.download("film"):
            digest.update(chunk)
        times.append(time.monotonic())
        return {"sent": sent, "got": digest.hexdigest(), "memory": (memory("VmHWM") - idle) * 1024, "times": times}
      `)) as { readonly memory: number; readonly times: readonly number[] }
        const [began = 0, sent = 0, got = 0] = ran.times
        const seconds = [sent - began, got - sent].map(Math.round)
        console.log(
          `${mode}: ${seconds.join(' s up, ')} s down, ${Math.round(ran.memory / MIB)} MiB`,
        )
        expect(ran).toMatchObject({ sent: sha256, got: sha256 })
        expect(ran.memory).toBeLessThan(MAX_MEMORY_BYTES)
      })
    },
  )

  describe('a service that is killed in the middle of an upload', () => {
    it.each([
      ['Client', 'content'],
      ['AsyncClient', 'chunked(content)'],
    ] as const)('gets the rest from %s when it is back: %s', async (mode, what) => {
      await using running = new AsyncDisposableStack()
      const DATA_DIR = await temporaryFolder(running)
      const PORT = String(await freePort())
      const environment = { DATA_DIR, PORT, BASE_CAPACITY: '1GiB' }
      const start = () => startService({ environment, opened: running })
      const cookie = await issueCookie('ann', { environment, opened: running })
      const first = await start()
      const [, TOKEN = ''] = cookie.split('=')
      const env = { URL: first.url, DIRECT: first.url, TOKEN }
      const session = await startSession(running, { project, mode, environment: env })
      const { bytes, sha256 } = createContent(60 * MIB)
      await project.write('film.bin', bytes)
      const uploaded = session.run(`
        content = Path("film.bin").read_bytes()
        def report(sent, total):
            if sent > 20 * 2**20:
                Path("is-half").touch()
        client = connect(retry=Retry(tries=10))
        return (await client.files.upload("film", ${what}, on_progress=report))["sha256"]`)
      const marker = join(project.folder, 'is-half')
      await expect.poll(() => open(marker).then((file) => file.close(), String)).toBeUndefined()
      await first.kill()
      await start()
      expect(await uploaded).toBe(sha256)
      await project.run(['-c', 'import os; os.remove("is-half")'])
    })
  })

  describe.skipIf(PRODUCTION.isSkipped)(`before ${PRODUCTION.title}`, () => {
    it.each(MODES)('%s uploads, downloads and follows over breaking connections', async (mode) => {
      await using running = new AsyncDisposableStack()
      const { service, port } = await PRODUCTION.open(running, { allowedOrigins: [] })
      const proxy = await startBreakingProxy({ port, seed: 5 })
      running.defer(() => proxy.stop())
      const TOKEN = secretOf(await service.createUser(256 * MIB))
      const environment = { URL: proxy.url, DIRECT: service.url, TOKEN }
      const session = await startSession(running, { project, mode, environment })
      const types = await session.run(`
        # Of connections that break at random, five in a row can break before they bring anything.
        client = connect(retry=Retry(tries=12, first_delay=0.02))
        content = os.urandom(20 * 2**20)
        async for page in client.files.list().pages():
            cursor = page["changes_cursor"]
        for one in [content, chunked(content)]:
            assert (await client.files.upload("film", one))["sha256"] == sha256(content)
            assert await (await client.files.download("film")).read() == content
        types = []
        async for change in client.changes.follow(cursor):
            types.append(change["type"])
            if len(types) == 2:
                return types`)
      expect(types).toEqual(['file.created', 'file.replaced'])
    })
  })
})
