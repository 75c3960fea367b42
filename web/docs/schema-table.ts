import { nameOf, type Reference, type Schema } from './api-document.ts'
import { html, type Html, NOTHING } from './html.ts'
import { phrase } from './prose.ts'
import { table } from './table.ts'

/** What a schema says, in a few words; another that it refers to is a link. */
export function schemaPhrase(schema: Schema | Reference): Html {
  if ('$ref' in schema) return schemaLink(schema)
  const { items, type = [], oneOf, anyOf = oneOf } = schema
  if (items !== undefined) return html`array of ${schemaPhrase(items)}`
  if (anyOf !== undefined) {
    return html`${anyOf.map((each, at) => html`${at > 0 ? ' or ' : ''}${schemaPhrase(each)}`)}`
  }
  const types = [type].flat().join(' or ')
  const kind = schema.format === undefined ? types : `${types} (${schema.format})`
  return html`${kind}${valuesOf(schema)}${limitsOf(schema)}`
}

/** The members of an object in a table, and those of what it is all of. */
export function schemaMembers(schema: Schema | Reference): Html {
  if ('$ref' in schema) return html`<p>${schemaLink(schema)}</p>`
  const { allOf = [], properties = {}, required = [] } = schema
  const rows = Object.entries(properties).map(([name, member]) => [
    html`<code>${name}</code>${required.includes(name) ? html` <em>required</em>` : NOTHING}`,
    schemaPhrase(member),
    phrase('$ref' in member ? '' : (member.description ?? '')),
  ])
  const members = table(['member', 'type', 'description'], rows)
  return html`${allOf.map((part) => schemaMembers(part))}${rows.length > 0 ? members : NOTHING}`
}

function schemaLink(reference: Reference): Html {
  const name = nameOf(reference)
  return html`<a href="#schema-${name}">${name}</a>`
}

function valuesOf({ enum: values, const: only, default: usual }: Schema): Html {
  const all = only === undefined ? (values ?? []) : [only]
  const shown = all.map((value, at) => html`${at > 0 ? ', ' : ': '}<code>${String(value)}</code>`)
  return html`${shown}${usual === undefined ? NOTHING : html`, default <code>${String(usual)}</code>`}`
}

function limitsOf({ minimum, maximum, pattern }: Schema): Html {
  const from = minimum === undefined ? '' : `, from ${minimum}`
  const to = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`
  const like = pattern === undefined ? NOTHING : html`, pattern <code>${pattern}</code>`
  return html`${from}${to}${like}`
}
