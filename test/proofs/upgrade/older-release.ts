import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../../support/service/program.ts'

const run = promisify(execFile)

/** The commit of the release before this one, which a rolling upgrade starts from. */
async function olderCommit(): Promise<string> {
  const file = new URL('released-before.json', import.meta.url)
  return (JSON.parse(await readFile(file, 'utf8')) as { commit: string }).commit
}

/** Why the older release can't be had here, or `undefined`. */
export async function whyNoOlderRelease(): Promise<string | undefined> {
  const commit = await olderCommit()
  const found = await run('git', ['cat-file', '-e', `${commit}^{commit}`]).catch(() => undefined)
  if (found === undefined) return `the history does not reach back to ${commit}`
  const then = packagesOf((await run('git', ['show', `${commit}:package.json`])).stdout)
  const now = packagesOf(await readFile('package.json', 'utf8'))
  // Both run on the same `node_modules`, where what the older one needs may be for development alone by now.
  const here = { ...now.devDependencies, ...now.dependencies }
  const needed = Object.entries(then.dependencies)
  const other = needed.flatMap(([name, version]) => (here[name] === version ? [] : [name]))
  return other.length === 0 ? undefined : `the older release has another ${other.join(', ')}`
}

function packagesOf(text: string): Packages {
  return JSON.parse(text) as Packages
}

interface Packages {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** Unpacks the older release and returns its folder. */
export async function unpackOlderRelease(opened: AsyncDisposableStack): Promise<string> {
  const folder = await temporaryFolder(opened)
  const archive = join(folder, 'release.tar')
  const what = ['package.json', 'tsconfig.json', 'api', 'src']
  await run('git', ['archive', `--output=${archive}`, await olderCommit(), ...what])
  await run('tar', ['-xf', archive, '-C', folder])
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}
