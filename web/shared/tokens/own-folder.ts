import { SEPARATOR } from '../folder.ts'
import { words } from './words.ts'

const MAX_SEGMENT_BYTES = 255

export interface FolderRequest {
  /** The name of the device or the program. */
  readonly label: string
  /** What distinguishes it from others of the same name, such as the id of a device. */
  readonly distinct?: string | undefined
  /** Whether another device or program has the folder, with the separator at its end. */
  readonly isTaken: (folder: string) => boolean
}

/** A folder that no other device or program has, called after the label. */
export function ownFolder({ label, distinct, isTaken }: FolderRequest): string {
  const name = segmentOf(label) || segmentOf(distinct ?? '') || words.folderName
  for (let count = 1; ; count += 1) {
    const folder = folderOf(name, suffixOf(count, distinct))
    if (!isTaken(folder)) return folder
  }
}

function suffixOf(count: number, distinct: string | undefined): string {
  if (count === 1) return ''
  const named = segmentOf(distinct ?? '')
  if (named === '') return ` ${count}`
  return count === 2 ? ` (${named})` : ` (${named}) ${count}`
}

function folderOf(name: string, suffix: string): string {
  const encoder = new TextEncoder()
  const characters = Array.from(name)
  while (encoder.encode(characters.join('') + suffix).length > MAX_SEGMENT_BYTES) characters.pop()
  return characters.join('').trimEnd() + suffix + SEPARATOR
}

/** What of a text can be the name of a folder: what no name can contain becomes a hyphen. */
function segmentOf(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const name = text.replace(/[/\\\u0000-\u001f\u007f-\u009f]+/g, '-').trim()
  return /^\.{0,2}$/.test(name) ? '' : name
}
