import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GUIDE_BLOCKS, guideBlock } from './blocks.ts'
import { runProgram } from './run.ts'

describe('the blocks of docs/guides.md', () => {
  it('are each used by a test', async () => {
    const names = await readdir(import.meta.dirname)
    const sources = await Promise.all(
      names.map((name) => readFile(join(import.meta.dirname, name), 'utf8')),
    )
    const calls = sources.join('\n').matchAll(/guideBlock\(['"](.+?)['"](?:, (\d))?\)/g)
    const used = new Set(
      Array.from(calls, ([, heading = '', at = '0']) => guideBlock(heading, Number(at))),
    )
    const unused = GUIDE_BLOCKS.filter(({ text }) => !used.has(text))
    expect(unused.map(({ name }) => name)).toEqual([])
  })

  it('begin with the variables that the others read', async () => {
    const reader = { url: '', token: '' }
    const { stdout } = await runProgram(['sh', '-euc', `${guideBlock('Guides')}\nenv`], { reader })
    expect(stdout).toContain('BASE_URL=https://files.example.com\n')
    expect(stdout).toContain('ACCESS_TOKEN=crt_...\n')
  })
})
