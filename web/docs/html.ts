/** Markup: what `html` made, and nothing else is taken for it. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = Html | string | number | readonly Piece[]

/** Markup of a template whose values are escaped, but for those that are markup themselves; lists stand as they are. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  const texts = parts.map((part, at) => part + textOf(pieces[at] ?? ''))
  return new Html(texts.join(''))
}

/** No markup at all. */
export const NOTHING = new Html('')

function textOf(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  if (typeof piece === 'object') return piece.map(textOf).join('')
  return String(piece).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
