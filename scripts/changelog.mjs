// The parts of a changelog, each of which is a version or "Unreleased".
// usage: changelog.mjs notes VERSION [BASE]
//   prints what CHANGELOG.md says about the version, as notes of a release: a paragraph is one line, since forges keep
//   line breaks in notes, and links to files of the repository begin with the URL BASE
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [command, version, base = ''] = process.argv.slice(2)
  if (command !== 'notes' || version === undefined) {
    console.error('usage: changelog.mjs notes VERSION [BASE]')
    process.exit(2)
  }
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const notes = textOf(text, version)
  if (notes === undefined) throw new Error(`CHANGELOG.md has no version ${version}`)
  console.log(withLinks(unwrapped(notes), base))
}

/** Makes the part "Unreleased" that of the version. Throws unless it has text and the version has no part yet. */
export function closeUnreleased(text, { version, date, whenEmpty }) {
  if (textOf(text, version) !== undefined) throw new Error(`There are notes of ${version} already.`)
  const notes = textOf(text, 'Unreleased')
  if (notes === undefined) throw new Error('There is no part "Unreleased".')
  if (notes === '' && whenEmpty === undefined) throw new Error('"Unreleased" says nothing.')
  const heading = `## Unreleased\n\n## ${version} (${date})\n`
  return text.replace('## Unreleased\n', notes === '' ? `${heading}\n${whenEmpty}\n` : heading)
}

/** Below the heading of the version, or `undefined`. */
function textOf(text, version) {
  const parts = text.split(/^## /m).slice(1)
  const found = parts.find((part) => (part.split(/[ \n]/, 1)[0] ?? '') === version)
  return found?.slice(found.indexOf('\n')).trim()
}

function unwrapped(text) {
  const blocks = text.split(/\n{2,}/)
  return blocks.map((block) => (isCode(block) ? block : joined(block))).join('\n\n')
}

function isCode(block) {
  return /^(?: {4}|```)/.test(block)
}

/** A line that begins neither an item nor a row continues the line before it. */
function joined(block) {
  return block.replaceAll(/\n *(?! |[-|#]|\d+\. )/g, ' ')
}

function withLinks(text, base) {
  return base === '' ? text : text.replaceAll(/\]\((?!https:|#)/g, `](${base}/`)
}
