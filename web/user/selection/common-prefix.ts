/** The longest text that all names begin with; empty without names. */
export function commonPrefix(names: readonly string[]): string {
  const [first = '', ...others] = names
  let length = first.length
  for (const name of others) {
    while (!name.startsWith(first.slice(0, length))) length -= 1
  }
  const prefix = first.slice(0, length)
  // Half a character is none.
  return prefix.isWellFormed() ? prefix : prefix.slice(0, -1)
}

/** Whether the text ends where a word does. Otherwise, other files are likely to begin with it by chance. */
export function isWholeWord(prefix: string): boolean {
  return /[^\p{L}\p{N}]$/u.test(prefix)
}
