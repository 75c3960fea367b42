import fs, { readlinkSync } from 'node:fs'
import { open, readdir, readlink } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onTestFinished, vi } from 'vitest'

/** Files and links below a folder, but for the pack of small objects. */
export async function filesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .filter((path) => !isPack(path))
}

/** The prototype of all file handles. */
export async function fileHandles(): Promise<Awaited<ReturnType<typeof open>>> {
  const handle = await open(tmpdir())
  await handle.close()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what else a handle's prototype is
  return Object.getPrototypeOf(handle) as typeof handle
}

interface Sync {
  readonly path: string
  readonly files: readonly string[]
}

/** Records what is synchronised from now on, and which files there were at that moment. */
export async function recordSyncs(
  directory: string,
  onSync: (sync: Sync) => void = () => undefined,
): Promise<readonly Sync[]> {
  const synchronised: Sync[] = []
  const handles = await fileHandles()
  const sync: unknown = Reflect.get(handles, 'sync')
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: typeof handles) {
    const path = relative(directory, await readlink(`/proc/self/fd/${this.fd}`))
    const found = { path, files: await filesIn(directory) }
    if (typeof sync === 'function') await Reflect.apply(sync, this, [])
    synchronised.push(found)
    onSync(found)
  })
  return synchronised
}

/** Records what is synchronised by `fsyncSync` until the end of the test. */
export function recordBlockingSyncs(directory: string): readonly string[] {
  const synchronised: string[] = []
  const { fsyncSync } = fs
  const spy = vi.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
    fsyncSync(fd)
    synchronised.push(relative(directory, readlinkSync(`/proc/self/fd/${fd}`)))
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return synchronised
}

const isPack = (path: string): boolean => path.includes('pack.sqlite')

export async function openFilesIn(directory: string): Promise<readonly string[]> {
  const descriptors = await readdir('/proc/self/fd')
  const paths = await Promise.all(
    descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return paths.filter((path) => path.startsWith(directory) && !isPack(path))
}
