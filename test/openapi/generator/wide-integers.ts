import type { Json } from '../../../src/http/openapi/operation.ts'
import { mapMembers } from './members.ts'

/** The document with the format `int64` where an integer may need more than 32 bits: generators of clients assume 32. */
export function withWideIntegers(document: Json): Json {
  const members = mapMembers(document, ofPart)
  return isWide(document) ? { ...members, format: 'int64' } : members
}

function ofPart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(ofPart)
  return typeof part === 'object' && part !== null ? withWideIntegers(part as Json) : part
}

function isWide({ type, maximum = Infinity }: Json): boolean {
  return [type].flat().includes('integer') && Number(maximum) >= 2 ** 31
}
