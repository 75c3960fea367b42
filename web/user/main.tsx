import { render } from 'preact'
import { App } from './app.tsx'
import { createPage } from './page.ts'

const root = document.getElementById('page')
if (root === null) throw new Error('The document has no place for the page.')

// What a link brings along is used once, and is gone from the address and the history before anything else happens.
const accessToken = new URLSearchParams(location.hash.slice(1)).get('access_token') ?? undefined
if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)

const base = new URL('.', location.href).href
const page = createPage({ base, target: document.body })
render(<App page={page} />, root)
page.start(accessToken)
