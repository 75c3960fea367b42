import type { ApiDocument, Json, OperationObject } from './api-document.ts'
import { html, type Html, NOTHING } from './html.ts'
import { operationSection, type PlacedOperation } from './operation-section.ts'
import { phrase, prose } from './prose.ts'
import { schemaMembers, schemaPhrase } from './schema-table.ts'
import { STYLE } from './style.ts'
import { table } from './table.ts'

/**
 * Renders an OpenAPI document of the service as an HTML page: every operation, schema, header and problem. The page has
 * one style and no script, and loads nothing. Its links are relative, so it works under any base path.
 */
export function docsPage(json: Json): string {
  const document = json as unknown as ApiDocument
  const { title, description, version } = document.info
  // The style is put in between as it is, since `html` would escape it.
  const beforeStyle = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>`
  const afterStyle = html`</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Contents">${contents(document)}</nav>
<main id="content">
<h1>${title}</h1>
${prose(description)}
<p>Version ${version} of the API. All paths are relative to the part of the address of this page before
<code>/docs</code>. The same description for programs is <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${credentials(document)}
${document.tags.map((tag) => operations(document, tag))}
${schemas(document)}
${headers(document)}
${problems(document)}
</main>
</body>
</html>
`
  return beforeStyle.text + STYLE + afterStyle.text
}

function contents(document: ApiDocument): Html {
  const groups = document.tags.map(({ name }) => {
    const entries = placedUnder(document, name).map(
      ({ operation }) =>
        html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
    )
    return html`<li>
      <a href="#tag-${anchorOf(name)}">${name}</a>
      <ul>
        ${entries}
      </ul>
    </li>`
  })
  const rest = [
    html`<li><a href="#schemas">schemas</a></li>
      <li><a href="#headers">headers</a></li>
      <li><a href="#problems">problems</a></li>`,
  ]
  return html`<ul>
    ${groups}${rest}
  </ul>`
}

function credentials({ components }: ApiDocument): Html {
  const rows = Object.entries(components.securitySchemes).map(([name, { description }]) => [
    html`<code>${name}</code>`,
    phrase(description),
  ])
  return html`<h2 id="credentials">credentials</h2>
    ${table(['name', 'description'], rows)}`
}

function operations(
  document: ApiDocument,
  { name, description }: ApiDocument['tags'][number],
): Html {
  return html`<h2 id="tag-${anchorOf(name)}">${name}</h2>
    ${prose(description)}
    ${placedUnder(document, name).map((placed) => operationSection(document, placed))}`
}

function placedUnder({ paths }: ApiDocument, tag: string): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, { head, ...others }]) => {
    const isLikeGet = isHeadOf(others['get'], head)
    const methods = head === undefined || isLikeGet ? others : { head, ...others }
    return Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({
        method,
        path,
        operation,
        head: method === 'get' && isLikeGet ? head : undefined,
      }))
  })
}

/** A `HEAD` that does more than the `GET` of its path has a section of its own. */
function isHeadOf(get: OperationObject | undefined, head: OperationObject | undefined): boolean {
  return head?.operationId.toLowerCase() === `head${get?.operationId}`.toLowerCase()
}

function schemas({ components }: ApiDocument): Html {
  const all = Object.entries(components.schemas).map(
    ([name, schema]) =>
      html`<section id="schema-${name}">
        <h3><code>${name}</code></h3>
        ${prose(schema.description ?? '')} ${schemaMembers(schema)}
      </section> `,
  )
  return html`<h2 id="schemas">schemas</h2>
    ${all}`
}

function headers({ components }: ApiDocument): Html {
  const rows = Object.entries(components.headers).map(([name, { description, schema }]) => [
    html`<code id="header-${name}">${name}</code>`,
    schemaPhrase(schema),
    phrase(description),
  ])
  return html`<h2 id="headers">headers</h2>
    ${table(['name', 'type', 'description'], rows)}`
}

function problems({ components }: ApiDocument): Html {
  const rows = Object.entries(components.examples).map(([code, { summary, value }]) => [
    html`<code id="problem-${code}">${code}</code>`,
    html`${value.status}`,
    phrase(summary),
    html`${factsOf(value)}`,
  ])
  return html`<h2 id="problems">problems</h2>
    <p>
      A problem has the media type <code>application/problem+json</code> and the members of
      <a href="#schema-Problem">Problem</a>.
    </p>
    ${table(['code', 'status', 'meaning', 'further members'], rows)}`
}

/** What a problem document has beyond what all have. */
function factsOf(value: Json): readonly Html[] {
  const names = Object.keys(value).filter((name) => !COMMON.has(name))
  return names.map((name, at) => html`${at > 0 ? ', ' : NOTHING}<code>${name}</code>`)
}

const COMMON = new Set(['type', 'title', 'status', 'detail', 'code', 'request_id'])

function anchorOf(tag: string): string {
  return tag.replaceAll(' ', '-')
}
