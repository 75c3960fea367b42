/** A size as typed; empty for none. */
export interface TypedSize {
  readonly amount: string
  readonly unit: SizeUnit
}

export const UNITS = { bytes: 1, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const

export type SizeUnit = keyof typeof UNITS

export const NO_SIZE: TypedSize = { amount: '', unit: 'GiB' }

/** In bytes; `undefined` if the text is not a size. */
export function bytesOf({ amount, unit }: TypedSize): number | undefined {
  const bytes = Math.round(Number(amount) * UNITS[unit])
  return amount.trim() !== '' && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : undefined
}

/** The size as it is typed, in the largest unit in which it is a whole number. */
export function typedSize(bytes: number | null): TypedSize {
  if (bytes === null) return NO_SIZE
  const units = Object.keys(UNITS) as readonly SizeUnit[]
  const unit = units.findLast((each) => bytes % UNITS[each] === 0) ?? 'bytes'
  return { amount: String(bytes / UNITS[unit]), unit }
}
