import {
  type ApiDocument,
  type Content,
  type OperationObject,
  type ParameterObject,
  responseOf,
  type ResponseObject,
} from './api-document.ts'
import { html, type Html, NOTHING } from './html.ts'
import { phrase, prose } from './prose.ts'
import { schemaMembers, schemaPhrase } from './schema-table.ts'
import { table } from './table.ts'

/** An operation, with the method and the path that it stands under in the document. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
  /** Its `HEAD`, which needs no section of its own. */
  readonly head: OperationObject | undefined
}

/** All that a document says of an operation. */
export function operationSection(document: ApiDocument, placed: PlacedOperation): Html {
  const { method, path, operation, head } = placed
  const { operationId, summary, description, parameters = [], requestBody } = operation
  const body =
    requestBody &&
    html`<h4>Body</h4>
      ${requestBody.required === true ? NOTHING : html`<p>Optional.</p>`}${contentOf(requestBody.content)}`
  return html`<section id="${operationId}">
    <h3><span class="${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
    <p>
      <strong>${summary}.</strong> ${credentialsOf(operation)}
      <small><code>${operationId}</code></small>
    </p>
    ${prose(description ?? '')}
    ${parameters.length > 0 ? parameterTable(parameters) : NOTHING}${body ?? NOTHING}
    <h4>Answers</h4>
    ${Object.entries(operation.responses).map(([status, response]) => answerOf(status, responseOf(document, response)))}
    ${head === undefined ? NOTHING : headLine(head)}
  </section> `
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
  return html`<h4>Parameters</h4>
    ${table(['name', 'in', 'type', 'description'], rows)}`
}

function answerOf(status: string, { description, headers = {}, content }: ResponseObject): Html {
  const names = Object.keys(headers).map(
    (name, at) => html`${at > 0 ? ', ' : ''}<a href="#header-${name}">${name}</a>`,
  )
  const isRefusal = Number(status) >= 400
  return html`<div class="answer">
    <h5>${status}</h5>
    <div>
      ${prose(description)}
      <p><small>Headers: ${names}</small></p>
      ${isRefusal ? NOTHING : contentOf(content ?? {})}
    </div>
  </div> `
}

function contentOf(content: Content): Html {
  return html`${Object.entries(content).map(([type, { schema, example }]) => {
    const text = JSON.stringify(example, null, 2)
    const shown = html`<details>
      <summary>Example</summary>
      <pre tabindex="0"><code>${text}</code></pre>
    </details>`
    return html`<p><code>${type}</code></p>
      ${schema === undefined ? NOTHING : schemaMembers(schema)}${example === undefined ? NOTHING : shown}`
  })}`
}

function headLine({ operationId, responses }: OperationObject): Html {
  const statuses = Object.keys(responses).join(', ')
  return html`<p id="${operationId}">
    <span class="head">HEAD</span> answers with the headers only: ${statuses}.
    <small><code>${operationId}</code></small>
  </p>`
}
