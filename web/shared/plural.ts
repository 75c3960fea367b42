type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string }

/** Chooses the form of a word for a count, by the plural rules of `language`. */
export function pluralIn(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language)
  return (count, forms) => forms[rules.select(count)] ?? forms.other
}
