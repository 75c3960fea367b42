import type { Json } from './operation.ts'

/** A body of JSON that an operation takes. */
export function jsonRequestBody(body: {
  readonly required: boolean
  readonly schema: Json
  readonly example: Json
}) {
  const { required, schema, example } = body
  return { required, content: { 'application/json': { schema, example } } }
}
