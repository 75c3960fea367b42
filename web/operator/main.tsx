import { render } from 'preact'
import { App } from './app.tsx'
import { createPage } from './page.ts'

const root = document.getElementById('page')
if (root === null) throw new Error('The document has no place for the page.')

const page = createPage(new URL('.', location.href).href)
render(<App page={page} />, root)
page.start()
