import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'

let opened: AsyncDisposableStack
let folder: string
beforeEach(async () => {
  opened = new AsyncDisposableStack()
  folder = await temporaryFolder(opened)
})
afterEach(() => opened.disposeAsync())

interface Outcome {
  readonly code: number
  readonly stderr: string
}

async function check(name: string, source: string): Promise<Outcome> {
  const file = join(folder, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, source)
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/check-regexps.mjs', folder], (error, _, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stderr }),
    )
  })
}

/** Of earlier versions: a request of 4 to 16 KiB held up all others for 20 to 320 ms. */
const QUADRATIC = [
  String.raw`/^ *([!-+\--~]+)(?: +([A-Za-z0-9+/=]*))? *$/`,
  String.raw`/^([!#$%&'*+\-.^_|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*)$/`,
  String.raw`/<style>(.*?)<\/style>/s`,
]

describe('scripts/check-regexps.mjs', () => {
  it.each(QUADRATIC)('refuses %s, with its place', async (regexp) => {
    const { code, stderr } = await check('deep/a.ts', `\nexport const A = ${regexp}\n`)
    expect(stderr).toMatch(/a\.ts:2: \/.*: 2nd degree polynomial time/)
    expect(code).toBe(1)
  })

  it('refuses one of exponential time in a page', async () => {
    const { code, stderr } = await check('a.tsx', 'export const a = <p>{/^(a|a)*$/.test(text)}</p>')
    expect(stderr).toContain('exponential time')
    expect(code).toBe(1)
  })

  it.each([
    ['new RegExp', "const WORD = '(a+)'\nexport const A = new RegExp(`^${WORD}+$`)"],
    ['RegExp without new', "export const A = RegExp(['(a+)+', '$'].join(''))"],
    ['String.raw', 'const WORD = /(a+)+/.source\nexport const A = RegExp(String.raw`${WORD}\\d$`)'],
    ['a schema', "export const schema = { type: 'string', pattern: '^(a+)+$' }"],
    ['a constant of schemas', "export const NAME_PATTERN = '^(a+)+$'"],
  ])('refuses an expression in %s', async (_, source) => {
    const { code, stderr } = await check('a.mjs', source)
    expect(stderr).toContain('exponential time')
    expect(code).toBe(1)
  })

  it.each(['new RegExp(text)', 'RegExp(`^${text}`)', 'new RegExp("a", flags)'])(
    'refuses %s, whose text is not constant',
    async (expression) => {
      const { code, stderr } = await check('a.ts', `export const of = (text) => ${expression}`)
      expect(stderr).toContain('a.ts:1: RegExp: build it from constants')
      expect(code).toBe(1)
    },
  )

  it('accepts expressions of linear time, and what only looks like one', async () => {
    const source = `
      const WORD = '[a-z]+'
      export const A = [/^a+b+$/, new RegExp(\`^\${WORD}$\`, 'u'), 1 / 2 / 3, '/(a+)+$/']
      // /(a+)+$/
    `
    expect(await check('a.ts', source)).toEqual({ code: 0, stderr: '' })
  })
})
