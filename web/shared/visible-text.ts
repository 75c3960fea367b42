/**
 * Text that somebody else may have chosen. Characters that show nothing, or change the direction of those beside them,
 * could pass `exe` off as `jpg`: each becomes a replacement character. So does each one of a text of spaces and joiners
 * alone, which a name can be: a button with it would have no width.
 */
export function visibleText(text: string): string {
  const shown = text.replace(INVISIBLE, (character) =>
    NEEDED.has(character) ? character : REPLACEMENT,
  )
  return VISIBLE.test(shown) ? shown : shown.replace(/./gsu, REPLACEMENT)
}

const REPLACEMENT = '\ufffd'

const INVISIBLE = /[\p{DI}\u2028\u2029\ufff9-\ufffb]/gu

/** The joiners and the variation selectors that emoji and several scripts need. */
const NEEDED = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])

const VISIBLE = /[^\s\p{DI}]/u
