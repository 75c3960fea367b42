import {
  type FileName,
  type FileNamePrefix,
  parseFileName,
  parseFileNamePrefix,
} from '../../../../src/core/files/file-name.ts'

/** All files are below the first of these, and some below the others, the last of which is no folder. */
const PREFIXES = ['d/', 'd/a/', 'd/b\u00fc %2F/', 'd/a'] as const

const [ALL, ONE, OTHER] = PREFIXES

/** By number: in folders, beside one of the same name, and the marker of one. */
const NAMES = [`${OTHER}x`, `${ONE}x`, 'd/a', `${OTHER}y/z?#`, ONE]

export const EVERY_FILE = ALL
/** Of the files that plans write mostly, one. */
export const FEW_FILES = ONE

/** The name of a file that a plan has a number for, wrapped around. */
export function nameOf(file: number): FileName {
  return parseFileName(NAMES[file % NAMES.length] ?? '')
}

/** The prefix that a plan has a number for, wrapped around. */
export function folderOf(folder: number): FileNamePrefix {
  return parseFileNamePrefix(PREFIXES[folder % PREFIXES.length] ?? '')
}

/** A marker is without content; one whose content is not refused is a fault. */
export function sizeFor(name: FileName, size: number): number {
  return name.endsWith('/') && size % 4 !== 1 ? 0 : size
}
