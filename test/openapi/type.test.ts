import { Type as TypeBox } from 'typebox'
import { expect, it } from 'vitest'
import { Type } from '../../src/http/openapi/type.ts'

const described = { title: 'A title', description: 'What it is.' }

it.each<[string, (type: typeof Type) => object]>([
  ['Array', (type) => type.Array(type.String(), { maxItems: 3 })],
  ['Boolean', (type) => type.Boolean(described)],
  ['Integer', (type) => type.Integer({ minimum: 0 })],
  ['Intersect', (type) => type.Intersect([type.Object({}), type.Object({})], described)],
  ['Literal, of a text', (type) => type.Literal('ok')],
  ['Literal, of a number', (type) => type.Literal(5)],
  ['Object', (type) => type.Object({ a: type.String(), b: type.Integer() }, described)],
  ['Object of nothing', (type) => type.Object({}, { additionalProperties: false })],
  [
    'Optional',
    (type) => type.Object({ a: type.Optional(type.String(described)), b: type.String() }),
  ],
  ['Optional, of all', (type) => type.Object({ a: type.Optional(type.String()) })],
  ['String', (type) => type.String({ format: 'date-time' })],
  ['Unknown', (type) => type.Unknown()],
  ['Unsafe', (type) => type.Unsafe<string | null>({ type: ['string', 'null'] })],
])('makes the JSON Schema that TypeBox makes: %s', (_builder, make) => {
  // As text, since the order of members is that of the document.
  expect(JSON.stringify(make(Type))).toBe(JSON.stringify(make(TypeBox as typeof Type)))
})
