/** Trusted markup, created by `html` only. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = Html | string | number | readonly Piece[]

/** A template that escapes all values except trusted markup. Lists are concatenated. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  const texts = parts.map((part, at) => part + textOf(pieces[at] ?? ''))
  return new Html(texts.join(''))
}

/** Empty markup. */
export const NOTHING = new Html('')

function textOf(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  if (typeof piece === 'object') return piece.map(textOf).join('')
  return String(piece).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
