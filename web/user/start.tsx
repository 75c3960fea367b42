import { render } from 'preact'
import { readPublicUrl } from '../shared/public-url.ts'
import { App } from './app.tsx'
import { createPage } from './user-page.ts'

/** Shows the page. `accessToken` is that of a sign-in link. */
export function start(accessToken: string | undefined): void {
  const root = document.getElementById('page')
  if (root === null) throw new Error('The document has no place for the page.')
  const base = new URL('.', location.href).href
  const page = createPage({ base, publicUrl: readPublicUrl(), target: document.body })
  render(<App page={page} />, root)
  page.start(accessToken)
}
