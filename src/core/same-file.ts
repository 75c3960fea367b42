import { statSync } from 'node:fs'

/** Identifies the file at the path, whatever is mounted or moved there later. */
export function fileIdOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}

/**
 * Throws unless the path still leads to that file. A connection that was opened while another folder was mounted would
 * go on writing there once the right one is back, where nothing that reads looks for it.
 */
export function assertSameFile(path: string, fileId: string): void {
  if (fileIdOf(path) === fileId) return
  throw new Error(
    `${path} is not the file that this process reads; restart it if the file is right`,
  )
}
