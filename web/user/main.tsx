import { render } from 'preact'
import { App } from './app.tsx'
import { createPage } from './user-page.ts'
import { takeAccessToken } from './sign-in-link.ts'

const root = document.getElementById('page')
if (root === null) throw new Error('The document has no place for the page.')

const accessToken = takeAccessToken()

const base = new URL('.', location.href).href
const page = createPage({ base, target: document.body })
render(<App page={page} />, root)
page.start(accessToken)
