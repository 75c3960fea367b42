import type { Random } from '../simulation/plan/random.ts'
import { SPELLINGS } from '../../support/names/spellings.ts'

/** Names that all workers of a user write to at once. */
const HOT_NAMES = ['hot', 'hot/0', 'hot/caf\u00e9 %2F?#+/cafe\u0301'] as const

/** The folders of a worker, and what each of them has: nobody else writes there. */
const FOLDERS = ['left/', 'right/'] as const
const IN_FOLDERS = ['', 'a/b', `uploads/${'\u00fc'.repeat(100)} 100%?#+`] as const

/** One of the files of a worker, or now and then one that all write to. */
export function pickName(folder: string, random: Random): string {
  return pickAmong(ownNames(folder), random)
}

/** As `pickName`, but one that may have content: markers of folders may not. */
export function pickFileName(folder: string, random: Random): string {
  return pickAmong(ownFileNames(folder), random)
}

function pickAmong(own: readonly [string, ...string[]], random: Random): string {
  return random.chance(0.3) ? random.pick(HOT_NAMES) : random.pick(own)
}

/** Two files of a worker. */
export function pickPair(folder: string, random: Random): readonly [string, string] {
  const names = ownFileNames(folder)
  const at = random.below(names.length)
  return [names[at] ?? '', names[(at + 1) % names.length] ?? '']
}

/** The folders of a worker, in one order or the other. */
export function pickFolders(folder: string, random: Random): readonly [string, string] {
  const [left, right] = FOLDERS.map((each) => `${folder}${each}`)
  const pair = [left ?? '', right ?? ''] as const
  return random.chance(0.5) ? pair : [pair[1], pair[0]]
}

/** All names of a worker. */
export function ownNames(folder: string): readonly [string, ...string[]] {
  return FOLDERS.flatMap((each) => namesIn(`${folder}${each}`)) as [string, ...string[]]
}

function ownFileNames(folder: string): readonly [string, ...string[]] {
  return ownNames(folder).filter((name) => !isMarker(name)) as [string, ...string[]]
}

/** All that a folder may have. */
export function namesIn(folder: string): readonly string[] {
  return IN_FOLDERS.map((rest) => `${folder}${rest}`)
}

export function isMarker(name: string): boolean {
  return name.endsWith('/')
}

/** The URL of a file, in one of its spellings. */
export function pathOf(name: string, random?: Random): string {
  const [, spell] = random?.pick(SPELLINGS) ?? SPELLINGS[0]
  return `/users/me/repo/${spell(name)}`
}
