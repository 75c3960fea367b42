/** Ways to write a name in a URL, all of which stand for the same name. */
type Spelling = readonly [how: string, spell: (name: string) => string]

export const SPELLINGS: readonly [Spelling, ...Spelling[]] = [
  ['with plain slashes', (name) => name.split('/').map(encodeURIComponent).join('/')],
  ['with %2F', encodeURIComponent],
  ['with every byte encoded', everyByte],
  ['with as little encoded as HTTP allows', bare],
]

/** `%61` for `a`, and so on, in upper and lower case by turns. */
function everyByte(name: string): string {
  return Array.from(Buffer.from(name), (byte, at) => {
    const digits = byte.toString(16).padStart(2, '0')
    return `%${at % 2 === 0 ? digits : digits.toUpperCase()}`
  }).join('')
}

/** What is not visible ASCII has to be encoded, and so has what ends a path or begins an escape. */
function bare(name: string): string {
  return name.replaceAll(/[^!-~]|[%?#]/gu, (character) =>
    character === '\u007f' || character.isWellFormed() ? escaped(character) : character,
  )
}

function escaped(character: string): string {
  const bytes = Array.from(Buffer.from(character), (byte) => byte.toString(16).padStart(2, '0'))
  return bytes.map((digits) => `%${digits}`).join('')
}
