/**
 * Text that somebody else may have chosen. Characters that show nothing, or change the direction of those beside them,
 * could pass `exe` off as `jpg`: each becomes a replacement character.
 */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => (NEEDED.has(character) ? character : '\ufffd'))
}

const INVISIBLE = /[\p{DI}\u2028\u2029\ufff9-\ufffb]/gu

/** The joiners and the variation selectors that emoji and several scripts need. */
const NEEDED = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])
