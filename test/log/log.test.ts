import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { exitOf, type Started, startProgram } from '../support/service/program.ts'

const withoutTerminal = isSkipped(await whyMissing(findProgram('python3')))

describe('the log of a process', () => {
  let opened: AsyncDisposableStack
  beforeEach(() => {
    opened = new AsyncDisposableStack()
  })
  afterEach(() => opened.disposeAsync())

  async function start(
    environment: Readonly<Record<string, string>> = {},
    under: readonly string[] = [],
  ): Promise<Started & { readonly url: string }> {
    const started = await startProgram({ args: ['serve'], environment, opened, under })
    await expect.poll(started.output, { timeout: 30_000 }).toMatch(LISTENS)
    return { ...started, url: urlIn(started.output()) }
  }

  it('is JSON, a line each, and has the last lines also when the end comes right behind them', async () => {
    const { url, process, output } = await start()
    await Promise.all(Array.from({ length: 200 }, () => fetch(`${url}/users/demo/repo`)))
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
    const lines = linesOf(output())
    expect(lines.filter(({ msg }) => msg === 'request finished')).toHaveLength(200)
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped', level: 30 })
  })

  it('has the last lines of a process that an uncaught exception ends, and the exception', async () => {
    const dying = "process.on('SIGUSR2', () => { throw new Error('of this test') })"
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(dying)}`
    const { url, process, output } = await start({ NODE_OPTIONS })
    await Promise.all(Array.from({ length: 200 }, () => fetch(`${url}/users/demo/repo`)))
    process.kill('SIGUSR2')
    expect(await exitOf(process)).not.toBe(0)
    const lines = linesOf(output())
    expect(lines.filter(({ msg }) => msg === 'request finished')).toHaveLength(200)
    const fatal = lines.find(({ level }) => level === 60)
    expect(fatal).toMatchObject({
      msg: 'uncaught exception; exiting',
      err: { message: 'of this test' },
    })
  })

  it('is for people when it is asked to be', async () => {
    const { output } = await start({ LOG_FORMAT: 'pretty' })
    expect(output()).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: the API listens at http/m)
  })

  it.skipIf(withoutTerminal)('is for people in a terminal, unless it is to be JSON', async () => {
    const terminal = ['python3', '-c', 'import pty, sys; pty.spawn(sys.argv[1:])']
    const seen = await start({}, terminal)
    expect(seen.output()).toMatch(/INFO.*: .*the API listens at http/)
    expect(seen.output()).not.toContain('"level":30')
    const forPrograms = await start({ LOG_FORMAT: 'json' }, terminal)
    expect(forPrograms.output()).toContain('"level":30')
  })
})

const LISTENS = /the API[a-zA-Z ]* listens at http:\/\/127/

function urlIn(output: string): string {
  return /listens at (http:\/\/[\d.:]+)/.exec(output)?.[1] ?? ''
}

interface Line {
  readonly level: number
  readonly msg: string
}

function linesOf(output: string): Line[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as Line)
}
