/** Whether the text has more than `most` characters: code points, which JSON Schema counts too. */
export function isLongerThan(text: string, most: number): boolean {
  return text.length > most && Array.from(text).length > most
}
