import type { TProperties } from 'typebox'
import { CAPACITY_STATES } from '../../core/quota/capacity.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import { type DeviceShare, NAMED_SHARES } from '../../core/quota/device-share.ts'
import type { Grant } from '../../core/quota/grant-store.ts'
import { Type } from './type.ts'

export function Text(description: string, example?: string) {
  return Type.String({ description, ...exampled(example) })
}

export function TextOrNull(description: string, example: string | null = null) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] })
}

export function Bytes(description: string, example?: number) {
  return Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    ...exampled(example),
  })
}

export function BytesOrNull(description: string, example: number | null = null) {
  return Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    examples: [example],
  })
}

export function Count(description: string, example?: number) {
  return Type.Integer({ minimum: 0, description, ...exampled(example) })
}

export function Time(description: string) {
  return Type.String({
    format: 'date-time',
    description: `${description} RFC 3339 in UTC.`,
    examples: ['2026-11-21T12:00:00.000Z'],
  })
}

/** Of the example files. */
export const EXAMPLE_SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

/** Marks `Strings`: `Components` writes their type into the document. */
export const STRINGS = 'x-strings'

/**
 * An object of strings. The serializer is told no type, so that it calls `JSON.stringify`: its own code for members of any
 * name takes seven times as long for 100 of them (bench/NOTES.md).
 */
export function Strings(description: string, example: Readonly<Record<string, string>>) {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    [STRINGS]: true,
    description,
    examples: [example],
  })
}

/** The schemas of a `DeviceShare`. */
export const SHARES = [
  { type: 'string', enum: NAMED_SHARES },
  { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
]

/** Marks what has one of several schemas: `Components` writes them into the document. The serializer is told none. */
export const ANY_OF = 'x-any-of'

export function Share(description: string, example: DeviceShare) {
  return Type.Unsafe<DeviceShare>({ [ANY_OF]: SHARES, description, examples: [example] })
}

/** One schema with two types: serializing a union would validate each value. */
export function TimeOrNull(description: string, example: string | null = null) {
  return Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: `${description} RFC 3339 in UTC.`,
    examples: [example],
  })
}

export function OneOf<T extends string>(values: readonly T[], description: string) {
  return Type.Unsafe<T>({ type: 'string', enum: values, description, examples: values.slice(0, 1) })
}

export function Page<P extends TProperties>(title: string, members: P, description?: string) {
  const next_cursor = Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The `cursor` of the next page, `null` on the last page.',
    examples: [null],
  })
  const options = description === undefined ? { title } : { title, description }
  return Type.Object({ ...members, next_cursor }, options)
}

export const USAGE = {
  capacity: Bytes('Capacity in bytes: the sum of the grants.', 1_073_741_824),
  used: Bytes('Bytes used by files.', 6143),
  reserved: Bytes('Bytes reserved by uploads in progress.', 0),
  available: Bytes(
    'Bytes that are still available: `max(0, capacity - used - reserved)`.',
    1_073_735_681,
  ),
  file_count: Count('Number of files.', 1),
  state: OneOf(
    CAPACITY_STATES,
    '`nearing` from 90 % used, `critical` from 99 %, `exceeded` above 100 %.',
  ),
}

function exampled(example: unknown): { readonly examples?: readonly unknown[] } {
  return example === undefined ? {} : { examples: [example] }
}

export function grantReply({ source, reference, bytes, model, startsAt, endsAt }: Grant) {
  return {
    source,
    reference,
    bytes,
    ...(model === undefined ? {} : { model }),
    starts_at: formatTimestamp(startsAt),
    ends_at: formatTimestamp(endsAt),
  }
}
