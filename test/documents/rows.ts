import { expect } from 'vitest'
import { allOf } from './pages.ts'

/** The cells of the first tables under a heading, up to the next heading, without their heads. */
export function rowsUnder(heading: string, page: string): string[][] {
  const [, section = ''] = page.split(`\n${heading}\n`)
  const rows = (section.split(/^#+ /m)[0] ?? '').split('\n').filter((line) => line.startsWith('|'))
  expect(rows).not.toEqual([])
  const heads = new Set(rows.flatMap((row, at) => (/^\|[-|]+\|$/.test(row) ? [at - 1, at] : [])))
  return rows
    .filter((_, at) => !heads.has(at))
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

/** What stands between backticks. */
export function codesIn(cell: string): string[] {
  return allOf(/`([^`]+)`/g, cell)
}
