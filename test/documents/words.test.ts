import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { failingCopies } from '../support/failing-copies.ts'
import { runCli } from '../../src/cli/cli.ts'
import { allOf, blocksOf, type Page, readPages } from './pages.ts'

const pages = await readPages()
const everything = pages.map(({ text }) => text).join('\n')

describe('the commands that the documents name', () => {
  it('are in package.json when npm runs them', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const named = allOf(/npm (?:run (?:-s )?([a-z]+)|(start|test))\b/g, everything)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
    expect(named).toEqual(expect.arrayContaining(['start', 'cli', 'crash', 'openapi']))
  })

  it('are taken by the command line, with these operands and options', async () => {
    const called = pages.flatMap(commandLines)
    expect(called.length).toBeGreaterThan(20)
    for (const words of called) {
      const complaints: string[] = []
      const code = await runCli({
        args: words,
        open: () => Promise.reject(new Error(RAN)),
        print: () => undefined,
        printError: (line) => complaints.push(line),
        interruption: () => new AbortController().signal,
        copies: failingCopies(new Error(RAN)),
      })
      // A sentence may name a command without its operands.
      const named = `usage: cloud-repo ${words.join(' ')} `
      const isFine = complaints[0] === RAN || complaints[0]?.startsWith(named) === true
      expect({ words, code, complaints, isFine }).toMatchObject({ isFine: true })
    }
  })

  it('are in docker-compose.yml when they name a profile or a service', async () => {
    const compose = await readFile('docker-compose.yml', 'utf8')
    const named = allOf(/(?:--scale|compose (?:run|exec)) ([a-z]+)|--profile ([a-z]+)/g, everything)
    expect(named).toEqual(expect.arrayContaining(['service', 'monitoring']))
    for (const name of named)
      expect(compose).toMatch(new RegExp(`^  ${name}:$|profiles: \\[${name}\\]`, 'm'))
  })
})

describe('the paths of the public API', () => {
  it('are each named in docs/ or README.md', async () => {
    const { paths } = JSON.parse(await readFile('api/openapi.json', 'utf8')) as {
      readonly paths: Readonly<Record<string, unknown>>
    }
    const read = pages.filter(({ path }) => /^(docs\/|README)/.test(path))
    const text = read.map((page) => page.text).join('\n')
    const unnamed = Object.keys(paths).filter((path) => !patternOf(path).test(text))
    // The service tells them in `Location`.
    expect(unnamed).toEqual([
      '/links/{secret}/uploads/{upload_id}',
      '/users/me/uploads/{upload_id}',
    ])
  })
})

/** Of a template such as `/users/{user_id}/repo`, whose parameters can have values. */
function patternOf(template: string): RegExp {
  return new RegExp(`${template.replaceAll(/\{\w+\}/g, '[^/\\s`]+')}(?![\\w/-])`)
}

const RAN = 'It would have run.'

/** Those that are the processes themselves, and no commands of the command line. */
const PROCESSES = new Set(['serve', 'doctor'])

/** The words of each call of the command line that a page shows whole, in a block or among its sentences. */
function commandLines(page: Page): string[][] {
  const inline = allOf(/`([^`\n]+)`/g, page.text)
  const lines = [...blocksOf(page).flatMap(({ text }) => text.split('\n')), ...inline]
  return lines.flatMap((line) => {
    const [, words = ''] =
      /(?:cloud-repo|npm run -s cli --) ([^;|>#&]*)/.exec(line.replaceAll(/\$\(.*?\)/g, 'x')) ?? []
    const [first = '', ...rest] = words.trim().split(/ +/)
    if (!/^[a-z]/.test(first) || PROCESSES.has(first) || words.includes('...')) return []
    return [[first, ...rest]]
  })
}
