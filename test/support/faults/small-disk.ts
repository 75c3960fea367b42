import { type ChildProcess, execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { temporaryFolder } from '../service/program.ts'

/**
 * What runs a program that finds an empty file system of that many bytes at `folder`, which nobody else sees; with so many
 * inodes if given.
 */
export function onSmallDisk(
  folder: string,
  bytes: number,
  inodes?: number,
): readonly [string, ...string[]] {
  const options = inodes === undefined ? '' : `,nr_inodes=${inodes}`
  const mount = `mount -t tmpfs -o size=${bytes}${options} tmpfs "$0" && exec "$@"`
  return ['unshare', '--map-root-user', '--mount', 'sh', '-c', mount, folder]
}

/** Why no such file system can be made here, if so. */
export async function missingSmallDisk(): Promise<string | undefined> {
  await using opened = new AsyncDisposableStack()
  try {
    const [unshare, ...args] = onSmallDisk(await temporaryFolder(opened), 65_536)
    await promisify(execFile)(unshare, [...args, 'true'])
    return undefined
  } catch (error) {
    return `No small disk: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** A path as that process sees it. */
export function inside({ pid }: Pick<ChildProcess, 'pid'>, path: string): string {
  return `/proc/${pid}/root${path}`
}

/**
 * Runs a program to its end among the files that the other one sees, by a process of its own; answers what it prints.
 */
export async function runInside(
  { pid }: ChildProcess,
  [program, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const namespaces = ['--target', String(pid), '--user', '--mount', '--preserve-credentials']
  const { stdout } = await promisify(execFile)('nsenter', [...namespaces, program, ...args])
  return stdout
}

/** Takes all that is left of a disk, or `bytes` of it, into one file. Its removal makes room. */
export async function fillDisk(
  file: string,
  bytes = Number.MAX_SAFE_INTEGER,
): Promise<{ remove(): Promise<void> }> {
  const handle = await open(file, 'w')
  try {
    for (let piece = PIECE, left = bytes; piece >= 1 && left > 0;) {
      const { bytesWritten } = await handle
        .write(Buffer.alloc(Math.min(piece, left)))
        .catch(() => ({ bytesWritten: 0 }))
      left -= bytesWritten
      if (bytesWritten === 0) piece = Math.floor(piece / 2)
    }
  } finally {
    await handle.close()
  }
  return { remove: () => rm(file) }
}

const PIECE = 65_536
