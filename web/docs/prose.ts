import { html, type Html } from './html.ts'

/**
 * Renders the Markdown that descriptions use: paragraphs and lists separated by empty lines, and code in backticks.
 * Problem codes become links to their descriptions.
 */
export function prose(text: string): Html {
  return html`${text.split(/\n{2,}/).map(blockOf)}`
}

/** Renders text without paragraphs. */
export function phrase(text: string): Html {
  const pieces = text.split(/(`[^`]+`)/)
  return html`${pieces.map((piece) =>
    /^`.+`$/.test(piece) ? html`<code>${piece.slice(1, -1)}</code>` : piece,
  )}`
}

function blockOf(block: string): Html {
  const lines = block.split('\n')
  if (!lines.every((line) => line.startsWith('- '))) return html`<p>${phrase(block)}</p>`
  return html`<ul>
    ${lines.map((line) => html`<li>${itemOf(line.slice(2))}</li>`)}
  </ul>`
}

function itemOf(item: string): Html {
  const [, code, meaning = ''] = /^`([a-z_]+)`(: .*)$/s.exec(item) ?? []
  if (code === undefined) return phrase(item)
  return html`<a href="#problem-${code}"><code>${code}</code></a
    >${phrase(meaning)}`
}
