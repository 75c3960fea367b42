import { expect, it } from 'vitest'
import { createFiles } from '../../../../packages/js/src/files/files.ts'
import { createHttp } from '../../../../packages/js/src/http/http.ts'
import { takenNames } from '../../../../web/user/moves/taken-names.ts'
import { fileNamed } from '../selection/file.ts'

const STORED = ['Photos/a', 'Photos/b/c', 'Photos/d/', 'Photos/e-1']

/** Asks a service with these files, and says how often it was asked. */
async function ask(names: readonly string[]) {
  let requests = 0
  const answer: typeof fetch = (url) => {
    requests += 1
    const { searchParams } = url as URL
    const prefix = searchParams.get('prefix') ?? ''
    const found = STORED.filter((name) => name.startsWith(prefix))
    const isRolledUp = searchParams.has('delimiter')
    const childOf = (name: string) => /^[^/]*\//.exec(name.slice(prefix.length))?.[0]
    const files = found.filter((name) => !isRolledUp || childOf(name) === undefined)
    const prefixes = found.flatMap((name) =>
      childOf(name) === undefined ? [] : prefix + childOf(name),
    )
    return Promise.resolve(
      Response.json({
        files: files.map(fileNamed),
        ...(isRolledUp && { prefixes: [...new Set(prefixes)] }),
        next_cursor: null,
      }),
    )
  }
  const service = createFiles(createHttp({ url: 'http://service', fetch: answer }))
  const list = {
    find: (name: string) => {
      requests += 1
      return Promise.resolve(STORED.includes(name) ? fileNamed(name) : undefined)
    },
  }
  const taken = await takenNames({ service, list, narrow: (prefix) => prefix }, names)
  return { taken, requests }
}

const FREE = Array.from({ length: 50 }, (_, at) => `Photos/free ${at}`)

it.each([0, 50])(
  'a name is taken by a file and by a folder, whatever it is for (of %i more)',
  async (more) => {
    const wanted = ['Photos/a', 'Photos/a/', 'Photos/b', 'Photos/d/', 'Photos/e', 'Photos/c']
    for (const names of more === 0 ? wanted.map((name) => [name]) : [[...wanted, ...FREE]]) {
      const { taken } = await ask(names)
      const all = ['Photos/a', 'Photos/a', 'Photos/b', 'Photos/d']
      const one = names[0] ?? ''
      const isFree = one === 'Photos/e' || one === 'Photos/c'
      expect(taken).toEqual(more > 0 ? all : isFree ? [] : [one.replace(/\/$/, '')])
    }
  },
)

it('many names take one request for their folder', async () => {
  expect((await ask(FREE)).requests).toBe(1)
})
