import type { ApiDocument, Json } from './api-document.ts'
import { html, type Html, NOTHING } from './html.ts'
import { phrase, prose } from './prose.ts'
import { schemaMembers, schemaPhrase } from './schema-table.ts'
import { table } from './table.ts'

/** What operations refer to: the schemas, each in a section of its own. */
export function schemas({ components }: ApiDocument): Html {
  const all = Object.entries(components.schemas)
  return html`<section class="view" id="schemas">
      <h2>Schemas</h2>
      <ul>
        ${all.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}
      </ul>
    </section>
    ${all.map(
      ([name, schema]) =>
        html`<section class="view" id="schema-${name}" data-entry="schemas">
          <h2>${name}</h2>
          ${prose(schema.description ?? '')} ${schemaMembers(schema)}
        </section> `,
    )} `
}

export function headers({ components }: ApiDocument): Html {
  const rows = Object.entries(components.headers).map(([name, { description, schema }]) => [
    html`<code id="header-${name}">${name}</code>`,
    schemaPhrase(schema),
    phrase(description),
  ])
  return html`<section class="view" id="headers">
    <h2>Headers</h2>
    ${table(['name', 'type', 'description'], rows)}
  </section> `
}

export function problems({ components }: ApiDocument): Html {
  const rows = Object.entries(components.examples).map(([code, { summary, value }]) => [
    html`<code id="problem-${code}">${code}</code>`,
    html`${value.status}`,
    phrase(summary),
    html`${factsOf(value)}`,
  ])
  return html`<section class="view" id="problems">
    <h2>Problems</h2>
    <p>
      A problem has the media type <code>application/problem+json</code> and the members of
      <a href="#schema-Problem">Problem</a>.
    </p>
    ${table(['code', 'status', 'meaning', 'further members'], rows)}
  </section> `
}

/** What a problem document has beyond what all have. */
function factsOf(value: Json): readonly Html[] {
  const names = Object.keys(value).filter((name) => !COMMON.has(name))
  return names.map((name, at) => html`${at > 0 ? ', ' : NOTHING}<code>${name}</code>`)
}

const COMMON = new Set(['type', 'title', 'status', 'detail', 'code', 'request_id'])
