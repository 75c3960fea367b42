import { describe, expect, it } from 'vitest'
import { chooseLanguage } from '../../web/language.ts'

describe('the language of the page', () => {
  it.each([
    [['de-AT', 'en'], 'de'],
    [['de'], 'de'],
    [['en-GB', 'de'], 'en'],
    [['fr-FR', 'de-DE', 'en'], 'de'],
    [['fr', 'ja'], 'en'],
    [[], 'en'],
    [['pt-BR', 'pt'], 'pt-BR'],
    [['pt-PT'], 'en'],
    [['constructor', '__proto__'], 'en'],
  ])('the language of a visitor who prefers %j is %s', (wanted, language) => {
    expect(chooseLanguage(wanted, ['de', 'pt-BR'])).toBe(language)
  })
})
