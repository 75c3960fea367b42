import { isDeepStrictEqual } from 'node:util'
import { mapMembers, sortMembers } from './members.ts'
import type { Json } from '../../../src/http/openapi/operation.ts'
import { ANY_OF, STRINGS } from '../../../src/http/openapi/reply-schemas.ts'

const OBJECT_OF_STRINGS = { type: 'object', additionalProperties: { type: 'string' } }

export class Components {
  readonly #schemas = new Map<string, Json>()
  readonly #responses = new Map<string, Json>()
  readonly #responseNames = new Map<string, string>()

  /**
   * Replaces titled schemas with references, which name them in generated clients. Drops `examples`. Throws if two schemas
   * have one title.
   */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((entry) => this.schema(entry))
    if (typeof schema !== 'object' || schema === null) return schema
    const {
      title,
      examples: _examples,
      [STRINGS]: isStrings,
      [ANY_OF]: anyOf,
      ...members
    } = schema as Json
    const strings = isStrings === true ? OBJECT_OF_STRINGS : {}
    const typed = { ...strings, ...(anyOf === undefined ? {} : { anyOf }), ...members }
    const plain = mapMembers(typed, (member) => this.schema(member))
    const { type } = plain
    if (typeof title !== 'string') return isOfTypes(type) ? { anyOf: type.map(ofType) } : plain
    if (!Array.isArray(type)) return this.#ref(title, plain)
    // Not one schema with two types: generators then name its members twice, and leave it out.
    const [object, ...others] = type.map(ofType)
    return { anyOf: [this.#ref(title, { ...plain, ...object }), ...others] }
  }

  #ref(title: string, schema: Json): Json {
    const known = this.#schemas.get(title)
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new Error(`Two schemas have the title ${title}`)
    }
    this.#schemas.set(title, schema)
    return { $ref: `#/components/schemas/${title}` }
  }

  response(response: Json, status: string): Json {
    const text = JSON.stringify(response)
    const name = this.#responseNames.get(text) ?? this.#freeName(`Problem${status}`)
    this.#responseNames.set(text, name)
    this.#responses.set(name, response)
    return { $ref: `#/components/responses/${name}` }
  }

  toJson(): { readonly schemas: Json; readonly responses: Json } {
    return {
      schemas: sortMembers(Object.fromEntries(this.#schemas)),
      responses: sortMembers(Object.fromEntries(this.#responses)),
    }
  }

  #freeName(base: string): string {
    const others = [...this.#responses.keys()].filter((name) => name.startsWith(base)).length
    return others === 0 ? base : `${base}_${others + 1}`
  }
}

/** Whether it has more than one type beside `null`, which not all generators understand. */
function isOfTypes(type: unknown): type is readonly unknown[] {
  return Array.isArray(type) && type.filter((each) => each !== 'null').length > 1
}

function ofType(type: unknown) {
  return { type }
}
