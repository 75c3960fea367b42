/** A run opens the database of each copy. */
export const MAX_KEPT_COPIES = 1000

export const KEPT_COPIES_RULE = `must be a whole number from 1 to ${MAX_KEPT_COPIES}`

/** How many complete copies stay in a folder of backups. Throws an `Error` with `KEPT_COPIES_RULE`. */
export function parseKeptCopies(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_KEPT_COPIES) return count
  throw new Error(KEPT_COPIES_RULE)
}
