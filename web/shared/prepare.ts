import { chooseLanguage } from '../language.ts'
import { type Messages, messages, showMessages } from '../messages.ts'
import { readBrand } from './brand.ts'
import { formatIn } from './format.ts'

/** Each is a chunk of its own. */
const LANGUAGES = import.meta.glob<Messages>('../languages/*.ts', { import: 'messages' })

/**
 * Shows the page as the operator has set, in the language that they or the browser have chosen. Modules that read
 * `messages` when they load may only be loaded when it resolves.
 */
export async function preparePage(): Promise<void> {
  const { name, language, color } = readBrand()
  const { style } = document.documentElement
  if (color !== undefined) style.setProperty('--brand', color)
  // The service puts the address of a logo there.
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (icon !== null) style.setProperty('--mark', `url("${icon.href}")`)
  await showLanguage(language === undefined ? navigator.languages : [language])
  if (name !== undefined) showMessages({ ...messages, product: name })
}

/** Does not fail: a language that cannot be loaded, for example after an update of the service, is shown in English. */
async function showLanguage(wanted: readonly string[]): Promise<void> {
  const language = chooseLanguage(wanted, Object.keys(LANGUAGES).map(nameOf))
  const load = LANGUAGES[`../languages/${language}.ts`]
  if (load === undefined) return
  try {
    showMessages(await load())
    formatIn(language)
    document.documentElement.lang = language
  } catch (error) {
    console.error(error)
  }
}

function nameOf(path: string): string {
  return path.slice('../languages/'.length, -'.ts'.length)
}
