import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'

it('npm start goes on with nothing when what builds the page was ended by a signal', async () => {
  await using opened = new AsyncDisposableStack()
  const root = await temporaryFolder(opened)
  await mkdir(join(root, 'scripts'))
  await mkdir(join(root, 'src'))
  await cp('scripts/run.mjs', join(root, 'scripts', 'run.mjs'))
  await symlink(resolve('node_modules'), join(root, 'node_modules'))
  await writeFile(join(root, 'package-lock.json'), '')
  await utimes(join(root, 'package-lock.json'), 0, 0)
  await writeFile(
    join(root, 'scripts', 'build-page.mjs'),
    `process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 10_000)`,
  )
  await writeFile(
    join(root, 'src', 'main.ts'),
    `import { writeFileSync } from 'node:fs'; writeFileSync('started', '')`,
  )
  const child = spawn(process.execPath, [join(root, 'scripts', 'run.mjs'), 'start'])
  await once(child, 'exit')
  expect(child.exitCode).toBe(143)
  expect(await readdir(root)).not.toContain('started')
})

it('an install never goes through a link into the folder of another checkout', async () => {
  await using opened = new AsyncDisposableStack()
  const root = await temporaryFolder(opened)
  const other = await temporaryFolder(opened)
  await mkdir(join(root, 'scripts'))
  await cp('scripts/run.mjs', join(root, 'scripts', 'run.mjs'))
  await writeFile(join(other, 'installed'), '')
  await symlink(other, join(root, 'node_modules'))
  const child = spawn(process.execPath, [join(root, 'scripts', 'run.mjs'), 'test'])
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await once(child, 'close')
  expect(child.exitCode).toBe(1)
  expect(said).toContain('node_modules links to an outdated install')
  expect(await readdir(other)).toEqual(['installed'])
})
