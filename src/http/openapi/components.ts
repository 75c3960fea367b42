import { type Json, mapMembers, sortMembers } from './json.ts'

/** What the operations of a document refer to, each of it there once. */
export class Components {
  readonly #schemas = new Map<string, Json>()
  readonly #responses = new Map<string, Json>()
  /** By what they say. */
  readonly #responseNames = new Map<string, string>()

  /**
   * A schema in which every one that has a `title` has become a reference, so that programs that make clients have a
   * name for each. Their examples are those of the whole.
   */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((entry) => this.schema(entry))
    if (typeof schema !== 'object' || schema === null) return schema
    const { title, examples: _examples, ...members } = schema as Json
    const plain = mapMembers(members, (member) => this.schema(member))
    if (typeof title !== 'string') return plain
    this.#schemas.set(title, plain)
    return { $ref: `#/components/schemas/${title}` }
  }

  /** A reference to that refusal; those of one status but with other codes are numbered. */
  response(response: Json, status: string): Json {
    const text = JSON.stringify(response)
    const name = this.#responseNames.get(text) ?? this.#freeName(`Problem${status}`)
    this.#responseNames.set(text, name)
    this.#responses.set(name, response)
    return { $ref: `#/components/responses/${name}` }
  }

  /** All that there are references to. */
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
