import { expect, it } from 'vitest'
import { createFiles } from '../../../../packages/js/src/files/files.ts'
import { createHttp } from '../../../../packages/js/src/http/http.ts'
import { archiveParts, sharedPrefix } from '../../../../web/user/selection/archive.ts'
import { fileNamed } from './file.ts'

const filesNamed = (names: readonly string[]) => names.map((name) => fileNamed(name))

const numbered = (count: number, name = '') =>
  filesNamed(Array.from({ length: count }, (_, at) => `${name}${at}`))

it('an archive has at most 200 names, all of them in one request head', () => {
  expect(archiveParts(numbered(401)).map(({ files }) => files.length)).toEqual([200, 200, 1])
  const long = archiveParts(numbered(200, 'ü'.repeat(120)))
  expect(long.length).toBeGreaterThan(10)
  for (const { path } of long) expect(path.length).toBeLessThan(12_000)
  expect(long.flatMap(({ files }) => files)).toHaveLength(200)
})

it('names in the address are encoded', () => {
  const [part] = archiveParts(filesNamed(['a&b=c', 'd#e']))
  const { searchParams } = new URL(part?.path ?? '', 'http://service')
  expect(searchParams.getAll('name')).toEqual(['a&b=c', 'd#e'])
})

it.each([
  { selected: ['a-1', 'a-2'], all: ['a-1', 'a-2'], prefix: 'a-' },
  { selected: ['a-1', 'a-2'], all: ['a-1', 'a-2', 'a-3'], prefix: undefined },
  { selected: ['a', 'b'], all: ['a', 'b'], prefix: '' },
  // One is gone.
  { selected: ['a-1', 'a-2'], all: ['a-1'], prefix: undefined },
])('files share a prefix with no other: %j', async ({ selected, all, prefix }) => {
  const asked: (string | null)[] = []
  const answer: typeof fetch = (url) => {
    asked.push((url as URL).searchParams.get('prefix'))
    return Promise.resolve(Response.json({ files: filesNamed(all), next_cursor: null }))
  }
  const service = createFiles(createHttp({ url: 'http://service', fetch: answer }))
  expect(await sharedPrefix(service, filesNamed(selected))).toBe(prefix)
  expect(asked).toEqual([prefix === '' ? null : 'a-'])
})
