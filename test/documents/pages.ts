import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** A Markdown file of the repository. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** All of them, by path. */
export async function readPages(): Promise<readonly Page[]> {
  const folders = ['bench', 'docs', 'packages', 'src', 'test', 'web']
  const found = await Promise.all(folders.map(filesIn))
  const files = [...(await readdir('.')), ...found.flat()]
  const paths = files.filter((path) => path.endsWith('.md')).toSorted()
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })))
}

/** The files of a folder and of the folders in it, but for installed packages. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true })
  return entries
    .filter((entry) => !entry.split(sep).includes('node_modules'))
    .map((entry) => join(folder, entry))
}

/** What a page shows apart from its sentences: a fenced block, or an indented one, as it is to be typed. */
export interface Block {
  readonly page: string
  /** Its first line with a word in it. */
  readonly name: string
  readonly text: string
  /** What the fence says: `bash`, `json`; `indented` without one. */
  readonly language: string
  /** The comment right above it. */
  readonly comment: string | undefined
}

/** The blocks of a page, in order. */
export function blocksOf({ path, text }: Page): readonly Block[] {
  const pattern =
    /(?:^ *<!-- (.*?) -->\n\n?)?(?:^```(.*)\n([^]*?)^```$|(?<=\n\n)((?:^ {4}.*\n|^\n(?= {4}))+))/gm
  return [...`${text}\n`.matchAll(pattern)].map((found) => {
    const [, comment, language = 'indented', fenced, indented = ''] = found
    const body = fenced ?? indented.replaceAll(/^ {4}/gm, '')
    const name =
      body
        .split('\n')
        .find((line) => /\w/.test(line))
        ?.trim() ?? ''
    return { page: path, name, text: body, language, comment }
  })
}

/** What the first group of a pattern that takes part finds, each time that the pattern does. */
export function allOf(pattern: RegExp, text: string): string[] {
  const firstOf = (groups: RegExpExecArray): string =>
    groups.slice(1).find((group) => group !== undefined) ?? ''
  return Array.from(text.matchAll(pattern), firstOf)
}
