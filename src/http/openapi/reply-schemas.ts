import type { Usage } from '../../core/ledger/ledger.ts'
import { availableBytes, CAPACITY_STATES, capacityState } from '../../core/quota/capacity.ts'
import { Type } from './type.ts'

/** Bytes, in an answer. */
export function Bytes(description: string) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
}

/** How many there are, in an answer. */
export function Count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

/** A time, in an answer. */
export function Time(description: string) {
  return Type.String({ format: 'date-time', description: `${description} RFC 3339 in UTC.` })
}

/** A time or `null`, in an answer. One schema of two types, since serialising a union would validate each value. */
export function TimeOrNull(description: string) {
  return Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: `${description} RFC 3339 in UTC.`,
  })
}

/** The cursor of the next page, or `null` on the last. */
export const NextCursor = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: '`cursor` of the next page; `null` on the last.',
})

/** One of these texts, in an answer. */
export function OneOf<T extends string>(values: readonly T[], description: string) {
  return Type.Unsafe<T>({ type: 'string', enum: values, description })
}

/** The members of an answer that say how full a repository is. */
export const USAGE = {
  capacity: Bytes('Bytes that all files may have together: what the grants add up to.'),
  used: Bytes('Bytes of the files.'),
  reserved: Bytes('Bytes that uploads under way have reserved.'),
  available: Bytes('Bytes that are left: max(0, capacity - used - reserved).'),
  file_count: Count('How many files there are.'),
  state: OneOf(
    CAPACITY_STATES,
    '`nearing` from 90 % of the capacity, `critical` from 99 %, `exceeded` above it.',
  ),
}

export function usageReply(usage: Usage) {
  const { capacity, used, reserved, fileCount } = usage
  return {
    capacity,
    used,
    reserved,
    available: availableBytes(usage),
    file_count: fileCount,
    state: capacityState(usage),
  }
}
