import {
  type ApiDocument,
  type Content,
  type OperationObject,
  type ParameterObject,
  responseOf,
  type ResponseObject,
} from './api-document.ts'
import { methodBadge } from './contents.ts'
import { curlCommand } from './curl.ts'
import { html, type Html, NOTHING } from './html.ts'
import { type PlacedOperation, tagAnchor, tagTitle } from './operations.ts'
import { phrase, prose } from './prose.ts'
import { schemaMembers, schemaPhrase } from './schema-table.ts'
import { table } from './table.ts'

/** All that a document says of an operation, and a command that calls it of the service at `address`. */
export function operationSection(
  document: ApiDocument,
  placed: PlacedOperation,
  address: string,
): Html {
  const { method, path, operation } = placed
  const { operationId, summary, description, tags, parameters = [], requestBody } = operation
  const body =
    requestBody &&
    html`<h3>Body</h3>
      ${requestBody.required === true ? NOTHING : html`<p>Optional.</p>`}${contentOf(requestBody.content)}`
  return html`<section class="view operation" id="${operationId}">
    <h2>${summary}</h2>
    <p class="call">${methodBadge(method)} <code>${path}</code></p>
    <p class="quiet">
      ${tags.map((tag) => html`<a href="#${tagAnchor(tag)}">${tagTitle(tag)}</a> · `)}
      <code>${operationId}</code> · ${credentialsOf(operation)}
    </p>
    ${prose(description ?? '')}
    <pre class="command" tabindex="0"><code>${commandOf(document, placed, address)}</code></pre>
    ${parameters.length > 0 ? parameterTable(parameters) : NOTHING}${body ?? NOTHING}
    <h3>Answers</h3>
    ${Object.entries(operation.responses).map(([status, response]) => answerOf(status, responseOf(document, response)))}
  </section> `
}

function commandOf(document: ApiDocument, placed: PlacedOperation, address: string): Html {
  const pieces = curlCommand(document, placed, address).split(address)
  return html`${pieces.map((piece, at) => (at === 0 ? piece : html`<span class="address">${address}</span>${piece}`))}`
}

function credentialsOf({ security }: OperationObject): string {
  const names = security.flatMap((way) => Object.keys(way))
  if (names.length === 0) return 'No credentials required.'
  const isOptional = security.some((way) => Object.keys(way).length === 0)
  return `${isOptional ? 'Credentials are optional' : 'Credentials required'}: ${names.join(', ')}.`
}

function parameterTable(parameters: readonly ParameterObject[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    html`<code>${name}</code>${required === true ? html` <em>required</em>` : NOTHING}`,
    html`${place}`,
    schemaPhrase(schema),
    phrase(description),
  ])
  return html`<div class="parameters">
    <h3>Parameters</h3>
    ${table(['name', 'in', 'type', 'description'], rows)}
  </div>`
}

function answerOf(status: string, { description, headers = {}, content }: ResponseObject): Html {
  const names = Object.keys(headers).map(
    (name, at) => html`${at > 0 ? ', ' : ''}<a href="#header-${name}">${name}</a>`,
  )
  const isRefusal = Number(status) >= 400
  return html`<div class="answer ${isRefusal ? 'refusal' : ''}">
    <h4>${status}</h4>
    <div>
      ${prose(description)}
      <p class="quiet">Headers: ${names}</p>
      ${isRefusal ? NOTHING : contentOf(content ?? {})}
    </div>
  </div> `
}

function contentOf(content: Content): Html {
  const types = Object.entries(content)
  // Many types of bytes, such as those of downloads, fit on a line.
  if (
    types.length > 1 &&
    types.every(([, { schema = {} }]) => 'format' in schema && schema.format === 'binary')
  )
    return html`<p>
      ${types.map(([type], at) => html`${at > 0 ? ', ' : ''}<code>${type}</code>`)}
    </p>`
  return html`${types.map(([type, { schema, example }]) => {
    const text = JSON.stringify(example, null, 2)
    const shown = html`<details>
      <summary>Example</summary>
      <pre tabindex="0"><code>${text}</code></pre>
    </details>`
    return html`<p><code>${type}</code></p>
      ${schema === undefined ? NOTHING : schemaMembers(schema)}${example === undefined ? NOTHING : shown}`
  })}`
}
