import { type FileName, parseFileName } from '../../../../src/core/files/file-name.ts'

/** All files are below the first of these folders, and some below the others. */
export const FOLDERS = ['d/', 'd/a/', 'd/b\u00fc %2F/'] as const

const [ALL, ONE, OTHER] = FOLDERS

/** By number: in folders, beside one of the same name, and the marker of one. */
const NAMES = [`${OTHER}x`, `${ONE}x`, 'd/a', `${OTHER}y/z?#`, ONE]

export const EVERY_FILE = ALL
/** Of the files that plans write mostly, one. */
export const FEW_FILES = ONE

export const FILES = NAMES.length

/** The name of a file that a plan has a number for, wrapped around. */
export function nameOf(file: number): FileName {
  return parseFileName(NAMES[file % FILES] ?? '')
}

/** A marker is without content; one whose content is not refused is a fault. */
export function sizeFor(name: FileName, size: number): number {
  return name.endsWith('/') && size % 4 !== 1 ? 0 : size
}
