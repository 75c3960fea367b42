import { readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { exitOf, type Started, startProgram, temporaryFolder } from '../support/service/program.ts'

let opened = new AsyncDisposableStack()
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

/** No file of the service may become larger, its log included. */
const LIMIT = 8 * 2 ** 20

describe('a log that cannot be written', () => {
  it('changes no answer: what fails with 503 does so, and is told once the log has room again', async () => {
    const service = await startWithLogFile({ LOG_LEVEL: 'warn' })
    const tooLarge = () => service.put('large', Buffer.alloc(LIMIT + 1))
    expect(await tooLarge()).toMatchObject({ status: 503, code: 'unavailable' })
    await truncate(service.logFile, LIMIT)
    for (let time = 0; time < 3; time++) {
      expect(await tooLarge()).toMatchObject({ status: 503, code: 'unavailable' })
    }
    expect(await service.put('small', Buffer.from('content'))).toMatchObject({ status: 200 })

    await truncate(service.logFile, 0)
    expect(await tooLarge()).toMatchObject({ status: 503 })
    const lines = linesOf(await service.log())
    expect(lines).toMatchObject([
      { msg: 'request failed', code: 'unavailable' },
      { msg: 'log lines lost', level: 50, lost: 3, err: { code: 'EFBIG' } },
    ])
  })

  it('finishes the line that it had begun, so that no other one continues it', async () => {
    const service = await startWithLogFile({})
    await truncate(service.logFile, LIMIT - 10)
    await service.get('begun')
    await eventually(async () => expect(await service.log()).toHaveLength(LIMIT))
    const begun = (await service.log()).slice(-10)
    for (let time = 0; time < 4; time++) await service.get('lost')
    await truncate(service.logFile, 0)
    await service.get('whole')
    // The line of a request comes after its answer, so that of the last one before may have found room again.
    await eventually(async () => {
      const lines = linesOf(begun + (await service.log()))
      const { lost = 0 } = lines.find(({ msg }) => msg === 'log lines lost') ?? {}
      expect(lost).toBeGreaterThanOrEqual(3)
      expect(lines.filter(({ msg }) => msg === 'request finished').length + lost).toBe(6)
    })
    service.process.kill('SIGINT')
    expect(await exitOf(service.process)).toBe(0)
  })

  it('does so for people, too', async () => {
    const service = await startWithLogFile({ LOG_FORMAT: 'pretty' })
    await truncate(service.logFile, LIMIT)
    for (let time = 0; time < 3; time++) expect(await service.get('none')).toBe(404)
    await truncate(service.logFile, 0)
    expect(await service.get('none')).toBe(404)
    await eventually(async () =>
      expect(await service.log()).toMatch(/ERROR: .*log lines lost .*"lost":[23]/),
    )
    await truncate(service.logFile, LIMIT)
    service.process.kill('SIGINT')
    expect(await exitOf(service.process)).toBe(0)
  })

  it('does not keep a process alive after an uncaught exception', async () => {
    const dying = "process.on('SIGUSR2', () => { throw new Error('of this test') })"
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(dying)}`
    const service = await startWithLogFile({ NODE_OPTIONS })
    await truncate(service.logFile, LIMIT)
    service.process.kill('SIGUSR2')
    expect(await exitOf(service.process)).not.toBe(0)
    expect(service.output()).toContain('of this test')
  })

  it.each(['json', 'pretty'])(
    'serves on when nobody reads it any more: %s',
    async (LOG_FORMAT) => {
      const { process, url } = await start({ LOG_FORMAT })
      process.stdout?.destroy()
      for (let time = 0; time < 20; time++) expect(await statusOf(url, 'none')).toBe(404)
      process.kill('SIGINT')
      expect(await exitOf(process)).toBe(0)
    },
    60_000,
  )

  it.each(['json', 'pretty'])(
    'serves on when its reader stops, and says what is lost when it reads again: %s',
    async (LOG_FORMAT) => {
      const { process, url, output } = await start({ LOG_FORMAT })
      process.stdout?.pause()
      for (let time = 0; time < 1000; time++) expect(await statusOf(url, 'none')).toBe(404)
      process.stdout?.resume()
      await eventually(async () => {
        await statusOf(url, 'none')
        expect(output()).toContain('log lines lost')
      })
      process.kill('SIGINT')
      expect(await exitOf(process)).toBe(0)
    },
    60_000,
  )
})

interface WithLogFile extends Started {
  readonly logFile: string
  readonly log: () => Promise<string>
  readonly get: (name: string) => Promise<number>
  readonly put: (name: string, body: Buffer) => Promise<unknown>
}

/** The program with its demo user and its standard output in a file, and no file larger than `LIMIT`. */
async function startWithLogFile(
  environment: Readonly<Record<string, string>>,
): Promise<WithLogFile> {
  const logFile = join(await temporaryFolder(opened), 'log')
  const limited = `ulimit -f ${LIMIT / 512} && exec "$@" >>"$0"`
  const started = await startProgram({
    args: ['serve', '--demo', '--print-token'],
    environment: { MIN_FREE_SPACE: '0', ...environment },
    under: ['sh', '-c', limited, logFile],
    opened,
  })
  const log = () => readFile(logFile, 'latin1')
  await eventually(async () => expect(await log()).toMatch(/curl .*\n.*curl /))
  const [, url = ''] = /listens on (\S+)/.exec(await log()) ?? []
  const [, cookie = ''] = /--cookie (\S+)/.exec(await log()) ?? []
  return {
    ...started,
    logFile,
    log,
    get: (name) => statusOf(url, name),
    async put(name, body) {
      const init = { method: 'PUT', body, headers: { cookie } }
      const reply = await fetch(`${url}/users/me/repo/${name}`, init)
      return { status: reply.status, ...((await reply.json()) as object) }
    },
  }
}

async function start(
  environment: Readonly<Record<string, string>>,
): Promise<Started & { readonly url: string }> {
  const started = await startProgram({ args: ['serve'], environment, opened })
  const listens = /the API listens at (http:\/\/[\d.:]+)/
  await eventually(async () => expect(started.output()).toMatch(listens))
  return { ...started, url: listens.exec(started.output())?.[1] ?? '' }
}

async function statusOf(url: string, name: string): Promise<number> {
  const reply = await fetch(`${url}/users/demo/repo/${name}`, {
    signal: AbortSignal.timeout(20_000),
  })
  await reply.text()
  return reply.status
}

interface Line {
  readonly msg: string
  readonly lost?: number
}

function linesOf(log: string): Line[] {
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}
