import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

describe('the matrix of bad input and faults', () => {
  it('numbers the rows of each group without a gap', async () => {
    const numbers = Map.groupBy(await readMatrix(), (row) => row.slice(0, 1))
    for (const [group, found] of numbers) {
      const numbered = found.map((_, at) => `${group}${String(at + 1).padStart(2, '0')}`)
      expect(found).toEqual(numbered)
    }
    expect([...numbers.keys()].join('')).toBe('ABCDEFGHR')
  })

  it('has each row in the title of a test, and no title has another row', async () => {
    expect(await testedRows()).toEqual(await readMatrix())
  })
})

async function readMatrix(): Promise<readonly string[]> {
  const text = await readFile(new URL('../FAULTS.md', import.meta.url), 'utf8')
  return Array.from(text.matchAll(/^\| ([A-Z]\d\d) \|/gm), ([, row = '']) => row)
}

/** The rows in texts between quotes of the files of `test/`. */
async function testedRows(): Promise<readonly string[]> {
  const folder = new URL('../', import.meta.url)
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('http/fault-matrix'),
  )
  const rows = new Set<string>()
  for (const name of names) {
    const text = await readFile(new URL(name, folder), 'utf8')
    for (const [, , title = ''] of text.matchAll(/(['"`])((?:(?!\1).)*?)\1/g)) {
      for (const [row] of title.matchAll(/(?<![\w#])[A-HR]\d\d(?![\w.])/g)) rows.add(row)
    }
  }
  return [...rows].toSorted()
}
