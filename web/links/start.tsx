import { render } from 'preact'
import { LinkPage } from './link-page.tsx'
import { createVisit } from './visit.ts'

/** Shows the page of a link. */
export function start(): void {
  const root = document.getElementById('page')
  if (root === null) throw new Error('The document has no place for the page.')
  const visit = createVisit(location.href)
  render(<LinkPage visit={visit} />, root)
  void visit.read()
}
