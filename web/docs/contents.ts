import type { ApiDocument } from './api-document.ts'
import { html, type Html } from './html.ts'
import { operationsUnder, type PlacedOperation, tagAnchor, tagTitle } from './operations.ts'

/** Links to all sections of the page, those of operations by tag. */
export function contents(document: ApiDocument): Html {
  const groups = document.tags.map(
    ({ name }) =>
      html`<li>
        <a href="#${tagAnchor(name)}">${tagTitle(name)}</a>
        <ul>
          ${operationsUnder(document, name).map(({ method, operation }) => entry(method, operation))}
        </ul>
      </li>`,
  )
  return html`<ul>
    <li><a href="#introduction">Introduction</a></li>
    ${groups}
    <li><a href="#schemas">Schemas</a></li>
    <li><a href="#headers">Headers</a></li>
    <li><a href="#problems">Problems</a></li>
  </ul>`
}

/** The operations of a tag, with their paths. */
export function operationList(placed: readonly PlacedOperation[]): Html {
  return html`<ul class="operations">
    ${placed.map(
      ({ method, path, operation }) =>
        html`<li>
          <a href="#${operation.operationId}">${operation.summary}</a>
          <span>${methodBadge(method)} <code>${path}</code></span>
        </li>`,
    )}
  </ul>`
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`
}

function entry(method: string, { operationId, summary }: PlacedOperation['operation']): Html {
  return html`<li>
    <a class="entry" href="#${operationId}"
      >${methodBadge(method)} <span class="entry-words">${summary}</span></a
    >
  </li>`
}
