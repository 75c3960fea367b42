import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readEnvFiles } from '../../src/config/env-files.ts'

let folder: string
let path: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'env-'))
  path = join(folder, '.env')
  await writeFile(path, "# A='comment'\nexport PORT=1\nPAGE_NAME='a\nb'\nEMPTY=\n")
})
afterAll(() => rm(folder, { recursive: true }))

it.each([
  ['--env-file=', []],
  ['--env-file', ['--watch']],
  ['--env-file-if-exists=', ['--env-file-if-exists=none', '--conditions', 'a']],
])('the names in the file of %s are found among the arguments of Node.js', (option, others) => {
  const own = option.endsWith('=') ? [option + path] : [option, path]
  const found = [{ path, names: ['EMPTY', 'PAGE_NAME', 'PORT'] }]
  expect(readEnvFiles([...others, ...own])).toEqual(found)
  expect(readEnvFiles([...own, ...others])).toEqual(found)
})

it('no file is found where no argument names one', () => {
  expect(readEnvFiles(['--watch', '--enable-source-maps'])).toEqual([])
})
