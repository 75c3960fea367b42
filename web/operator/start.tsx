import { render } from 'preact'
import { messages, showMessages } from '../messages.ts'
import { operatorWords } from './words.ts'
import { App } from './app.tsx'
import { createPage } from './page.ts'

/** Shows the operator's page. `adminToken` is that of the link that opened it. */
export function start(adminToken: string | undefined): void {
  const problems = { ...messages.problems, ...operatorWords.problems }
  showMessages({ ...messages, problems })
  const root = document.getElementById('page')
  if (root === null) throw new Error('The document has no place for the page.')
  document.title = `${messages.product}: ${operatorWords.title}`
  const page = createPage(new URL('.', location.href).href)
  render(<App page={page} />, root)
  page.start(adminToken)
}
