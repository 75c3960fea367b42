import type { Views } from './views.ts'

interface Entry {
  readonly item: HTMLElement
  readonly link: HTMLAnchorElement
  /** What the entry shows, in lower case. */
  readonly shown: string
  /** The path, the parameters and the codes of refusals, in lower case. */
  readonly terms: readonly string[]
}

/**
 * Filters the operations of the contents by the words of the search field: each is part of the method, path, summary,
 * a parameter or a code of a refusal. `/` goes to the field, the arrow keys to the operations found, Enter to the first.
 */
export function startSearch(views: Views): void {
  const box = document.querySelector<HTMLElement>('.search')
  const field = document.querySelector<HTMLInputElement>('#search')
  const found = document.querySelector<HTMLElement>('.found')
  if (box === null || field === null || found === null) return
  const root = document.documentElement
  const entries = readEntries()
  box.hidden = false

  function search(): void {
    const words = field?.value.toLowerCase().split(/\s+/).filter(Boolean) ?? []
    for (const entry of entries) {
      entry.item.hidden = !words.every((word) => isIn(entry, word))
      showReason(entry, words)
    }
    hideOthers(words.length > 0)
    const count = linksFound().length
    if (found !== null) found.textContent = words.length === 0 ? '' : report(count, entries.length)
    root.classList.toggle('searching', words.length > 0)
  }

  const linksFound = () => entries.filter(({ item }) => !item.hidden).map(({ link }) => link)

  function onFieldKey(event: KeyboardEvent): void {
    const [first] = linksFound()
    if (event.key === 'ArrowDown') first?.focus()
    else if (event.key === 'Enter' && field?.value !== '') views.go(first?.hash ?? location.hash)
    else if (event.key === 'Escape' && field !== null) {
      field.value = ''
      search()
    } else return
    event.preventDefault()
  }

  function onLinkKey(event: KeyboardEvent): void {
    const step = STEPS.get(event.key)
    const links = linksFound()
    const at = links.findIndex((link) => link === document.activeElement)
    if (step === undefined || at < 0) return
    const next = at + step < 0 ? field : links[at + step]
    next?.focus()
    event.preventDefault()
  }

  field.addEventListener('input', search)
  field.addEventListener('keydown', onFieldKey)
  document.querySelector<HTMLElement>('#contents')?.addEventListener('keydown', onLinkKey)
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event
    if (key !== '/' || ctrlKey || metaKey || altKey || target === field) return
    field.focus()
    field.select()
    event.preventDefault()
  })
  views.onShow(() => root.classList.remove('searching'))
  // Browsers restore the text of a field on reload.
  search()
}

const STEPS = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
])

function readEntries(): readonly Entry[] {
  const links = document.querySelectorAll<HTMLAnchorElement>('#contents a.entry')
  return [...links].flatMap((link) => {
    const item = link.closest('li')
    const section = document.getElementById(link.hash.slice(1))
    if (item === null || section === null) return []
    const named = section.querySelectorAll('.call code, .parameters th code, [href^="#problem-"]')
    const texts = [...named].map(({ textContent }) => textContent.toLowerCase())
    const terms = [...new Set([...texts, section.id.toLowerCase()])]
    return [{ item, link, shown: link.textContent.toLowerCase(), terms }]
  })
}

function isIn({ shown, terms }: Entry, word: string): boolean {
  return shown.includes(word) || terms.some((term) => term.includes(word))
}

/** Names what the entry was found by, unless it shows that anyway. */
function showReason({ link, shown, terms }: Entry, words: readonly string[]): void {
  link.querySelector('.reason')?.remove()
  const hidden = words.filter((word) => !shown.includes(word))
  const reasons = hidden.flatMap((word) => terms.find((term) => term.includes(word)) ?? [])
  if (reasons.length === 0) return
  const reason = document.createElement('small')
  reason.className = 'reason'
  reason.textContent = [...new Set(reasons)].join(', ')
  link.append(reason)
}

/** Tags without an operation that was found, and what is not an operation. */
function hideOthers(isSearching: boolean): void {
  for (const item of document.querySelectorAll<HTMLElement>('#contents > ul > li')) {
    item.hidden = isSearching && item.querySelector('li:not([hidden])') === null
  }
}

function report(count: number, all: number): string {
  return count === 0 ? 'No operation found.' : `${count} of ${all} operations`
}
