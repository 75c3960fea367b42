import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

it('the packages for TypeScript and Python have the same methods', async () => {
  const [typeScript, python] = await Promise.all(['js', 'python'].map(methodsOf))
  expect(typeScript?.map(inSnakeCase)).toEqual(python)
  expect(python).toEqual(expect.arrayContaining(['files.batch', 'user(id).links.update']))
  expect(python?.length).toBeGreaterThan(60)
})

/** The methods in the tables without a heading of a package's README, in their order. */
async function methodsOf(name: string): Promise<readonly string[]> {
  const text = await readFile(`packages/${name}/README.md`, 'utf8')
  const tables = text.matchAll(/^\| \| \|\n\|---\|---\|\n((?:\|.*\n)+)/gm)
  return [...tables].flatMap(([, rows = '']) => rows.split('\n').flatMap(methodsIn))
}

/** Of `files.rename` and `update`, the second is `files.update`. */
function methodsIn(row: string): readonly string[] {
  const [, cell = ''] = row.split('|')
  const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const [first = ''] = names
  const owner = first.slice(0, first.lastIndexOf('.') + 1)
  return names.map((name, at) => (at === 0 ? name : owner + name))
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
