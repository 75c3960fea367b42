/** What the browser remembers of the user's choices; `null` for nothing. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Browsers that keep nothing throw. The choice then lasts as long as the page. */
export function remember(key: string, choice: string): void {
  try {
    localStorage.setItem(key, choice)
  } catch {
    // It is not needed for anything else.
  }
}
