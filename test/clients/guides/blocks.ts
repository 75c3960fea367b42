import { readFile } from 'node:fs/promises'
import { type Block, blocksOf } from '../../documents/pages.ts'

const PATH = 'docs/guides.md'

const text = await readFile(PATH, 'utf8')

export const GUIDE_BLOCKS = blocksOf({ path: PATH, text })

/** The first block of `docs/guides.md` below a heading, or a later one. */
export function guideBlock(heading: string, at = 0): string {
  const block = blocksBelow(heading)[at]
  if (block === undefined) throw new Error(`${PATH} has no block ${at} below "${heading}".`)
  return block.text
}

/** The blocks between a heading and the next one. */
function blocksBelow(heading: string): readonly Block[] {
  const sections = text.replace(/^# /, '').split(/^#{2,3} /m)
  const section = sections.find((each) => each.startsWith(`${heading}\n`)) ?? ''
  return blocksOf({ path: PATH, text: section })
}
