/** The language of `messages.ts`. Each other one is a file of `languages/`, named by its tag of BCP 47. */
const ENGLISH = 'en'

/**
 * The first of the `wanted` languages that is English or one of the `others`, else English. The tag itself comes before
 * its language alone: `pt-BR` before `pt`.
 */
export function chooseLanguage(wanted: readonly string[], others: readonly string[]): string {
  const known = new Set([ENGLISH, ...others])
  for (const tag of wanted) {
    const [language = ''] = tag.split('-')
    const found = [tag, language].find((name) => known.has(name))
    if (found !== undefined) return found
  }
  return ENGLISH
}
