/**
 * A text that a terminal shows and obeys nothing of: each control and format character, and each separator of lines, is
 * written `\uXXXX`, as JSON has it, so that JSON stays the same document. The ends of lines stay as they are.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu
