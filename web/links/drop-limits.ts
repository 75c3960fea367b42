import type { OpenLink } from './visit.ts'

/** How much a drop link still takes; `null` for as much as there is room for. */
export interface Taken {
  readonly files: number | null
  readonly bytes: number | null
}

export function takenBy(link: OpenLink): Taken {
  const { uses_left: uses, files_left: files = null, bytes_left: bytes = null } = link
  return { files: uses === null || files === null ? (uses ?? files) : Math.min(uses, files), bytes }
}

/** Whether a drop link takes no more files. */
export function isFull(link: OpenLink): boolean {
  const { files, bytes } = takenBy(link)
  return files === 0 || bytes === 0
}
