import { statfs } from 'node:fs/promises'
import type { DiskRoom } from '../core/uploads/free-space.ts'

/** What the file system of the folder has left for this process. */
export async function measureDisk(folder: string): Promise<DiskRoom> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  // Btrfs, FAT and others have no fixed number of inodes, and report 0 of 0.
  return { bytes: bavail * bsize, inodes: files === 0 ? Infinity : ffree }
}
