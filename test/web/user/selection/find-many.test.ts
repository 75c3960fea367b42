import { expect, it } from 'vitest'
import type { FileEntry } from '../../../../web/shared/model.ts'
import { findMany } from '../../../../web/user/selection/find-many.ts'
import { fileNamed } from './file.ts'

/** A list whose answers the test gives, in the order in which they are asked for. */
function listToAnswer() {
  const asked: (PromiseWithResolvers<FileEntry | undefined> & { readonly name: string })[] = []
  const put: string[] = []
  const dropped: string[] = []
  const list = {
    find(name: string) {
      const answer = Promise.withResolvers<FileEntry | undefined>()
      asked.push({ name, ...answer })
      return answer.promise
    },
    put: (...files: readonly FileEntry[]) => void put.push(...files.map(({ name }) => name)),
    drop: (...names: readonly string[]) => void dropped.push(...names),
  }
  return { list, asked, put, dropped }
}

const FILES = ['a', 'b', 'c', 'd', 'e', 'f'].map(fileNamed)

it('three of many files that others have changed are asked for at a time', async () => {
  const { list, asked, put, dropped } = listToAnswer()
  const found = findMany(
    list,
    FILES.map((file) => (file.name === 'a' ? { ...file, keep: true } : file)),
  )
  const names = () => asked.map(({ name }) => name)
  expect(names()).toEqual(['b', 'c', 'd'])
  asked[1]?.resolve(undefined)
  await expect.poll(names).toEqual(['b', 'c', 'd', 'e'])
  for (const at of [0, 2, 3]) asked[at]?.resolve({ ...fileNamed(names()[at] ?? ''), keep: false })
  await expect.poll(names).toEqual(['b', 'c', 'd', 'e', 'f'])
  asked[4]?.resolve({ ...fileNamed('f'), keep: true })
  const kept = (await found).map(({ name, keep }) => [name, keep])
  expect(kept).toEqual([
    ['a', true],
    ['b', false],
    ['d', false],
    ['e', false],
    ['f', true],
  ])
  expect([put.toSorted(), dropped]).toEqual([['b', 'd', 'e', 'f'], ['c']])
})

it('none of many files is asked for any more once the service refuses the token', async () => {
  const { list, asked } = listToAnswer()
  const found = findMany(list, FILES)
  const refusal = new Error('Refused.')
  asked[0]?.reject(refusal)
  await expect(found).rejects.toBe(refusal)
  for (const at of [1, 2]) asked[at]?.resolve(undefined)
  // Once the answers have been taken.
  await new Promise(setImmediate)
  expect(asked).toHaveLength(3)
})
