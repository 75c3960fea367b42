export interface Views {
  /** Shows the section that the address names, also if it names the same as before. */
  go(anchor: string): void
  /** Called when another section is shown. */
  onShow(listener: () => void): void
}

/** The anchor that shows all sections, as without a script. */
const ALL = '#all'

/** On small screens, the contents are shown instead of a section. */
const CONTENTS = '#contents'

/** Of the link that skips the contents: stays in the shown section. */
const SKIP = '#content'

/**
 * Shows one section at a time: the one that contains the anchor in the address. The others stay where the browser's own
 * search finds them.
 */
export function showViews(): Views {
  const root = document.documentElement
  const views = [...document.querySelectorAll<HTMLElement>('.view')]
  const pager = createPager()
  const title = document.title
  const listeners: (() => void)[] = []
  let current = views[0]

  function viewOf(anchor: string): HTMLElement | undefined {
    if (anchor === CONTENTS || anchor === SKIP) return current
    return targetOf(anchor)?.closest<HTMLElement>('.view') ?? views[0]
  }

  function show(shown: HTMLElement | undefined, anchor: string): void {
    const isAll = anchor === ALL
    current = shown
    for (const view of views) {
      if (isAll || view === shown) view.removeAttribute('hidden')
      // Unlike `display: none`, browsers search it, and say so by an event.
      else view.setAttribute('hidden', 'until-found')
    }
    root.classList.toggle('whole', isAll)
    root.classList.toggle('listing', anchor === '' || anchor === CONTENTS)
    const entry = isAll ? ALL : `#${shown?.dataset['entry'] ?? shown?.id}`
    for (const link of document.querySelectorAll('#contents a')) {
      const isCurrent = link.getAttribute('href') === entry
      if (isCurrent) {
        link.setAttribute('aria-current', 'page')
        link.scrollIntoView({ block: 'nearest' })
      } else link.removeAttribute('aria-current')
    }
    const heading = shown?.querySelector('h2')?.textContent ?? ''
    document.title = isAll || shown === views[0] ? title : `${heading} - ${title}`
    pager.show(isAll ? [] : views, shown)
    for (const listener of listeners) listener()
  }

  function follow(anchor: string): void {
    if (anchor === SKIP) return
    const shown = viewOf(anchor)
    show(shown, anchor)
    const target = targetOf(anchor)
    if (target !== undefined && target !== shown && target.closest('.view') === shown) {
      target.scrollIntoView()
      return
    }
    scrollTo(0, 0)
    if (anchor !== '' && anchor !== CONTENTS) focusHeading(shown)
  }

  addAllLink()
  addEventListener('hashchange', () => follow(location.hash))
  document.addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a[href^="#"]') : null
    const anchor = link?.getAttribute('href')
    // A browser reports no change then, but the section may have been left by the browser's search.
    if (anchor === location.hash) follow(anchor)
  })
  document.addEventListener('beforematch', ({ target }) => {
    if (target instanceof HTMLElement) show(target, `#${target.id}`)
  })
  show(viewOf(location.hash), location.hash)
  targetOf(location.hash)?.scrollIntoView()

  return {
    go(anchor) {
      if (location.hash === anchor) follow(anchor)
      else location.hash = anchor
    },
    onShow: (listener) => void listeners.push(listener),
  }
}

function targetOf(anchor: string): HTMLElement | undefined {
  return document.getElementById(decoded(anchor.slice(1))) ?? undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** For screen readers, which then read the section that is new. */
function focusHeading(view: HTMLElement | undefined): void {
  const heading = view?.querySelector<HTMLElement>('h2')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus({ preventScroll: true })
}

function addAllLink(): void {
  const item = document.createElement('li')
  item.append(linkTo(ALL, 'Everything on one page'))
  document.querySelector('#contents > ul')?.append(item)
}

/** Links to the sections before and after the shown one, and on small screens to the contents. */
function createPager() {
  const pager = document.createElement('nav')
  pager.className = 'pager'
  pager.setAttribute('aria-label', 'Sections')
  document.querySelector('main')?.append(pager)
  return {
    show(views: readonly HTMLElement[], shown: HTMLElement | undefined): void {
      const at = shown === undefined ? -1 : views.indexOf(shown)
      const back = linkTo(CONTENTS, 'Contents')
      back.classList.add('pager-contents')
      pager.replaceChildren(
        linkBeside(views[at - 1], 'Previous'),
        back,
        linkBeside(at < 0 ? undefined : views[at + 1], 'Next'),
      )
    },
  }
}

function linkBeside(view: HTMLElement | undefined, label: string): HTMLElement {
  if (view === undefined) return document.createElement('span')
  const link = linkTo(`#${view.id}`, view.querySelector('h2')?.textContent ?? '')
  const small = document.createElement('small')
  small.textContent = label
  link.prepend(small, ' ')
  link.classList.add(`pager-${label.toLowerCase()}`)
  link.rel = label === 'Next' ? 'next' : 'prev'
  return link
}

function linkTo(anchor: string, text: string): HTMLAnchorElement {
  const link = document.createElement('a')
  link.href = anchor
  const words = document.createElement('span')
  words.textContent = text
  link.append(words)
  return link
}
