import { formatBytes, formatCount } from '../../shared/format.ts'
import { operatorWords } from '../words.ts'

/** The values of a chart, and the steps of its vertical axis. */
export interface Scale {
  readonly format: (value: number) => string
  /** The least step that is as large as `value`, and easy to read. */
  readonly stepOf: (value: number) => number
}

export const COUNTS: Scale = { format: formatCount, stepOf: roundStep }

export const BYTES: Scale = { format: formatBytes, stepOf: binaryStep }

export const BYTES_PER_SECOND: Scale = {
  format: operatorWords.service.bytesPerSecond,
  stepOf: binaryStep,
}

/** From the highest, which `most` does not exceed, down to 0, with at most `steps` steps between. */
export function ticksOf(most: number, { stepOf }: Scale, steps: 1 | 2): readonly number[] {
  if (most <= 0) return [0]
  const step = stepOf(most / steps)
  return most > step ? [2 * step, step, 0] : [step, 0]
}

/** 1, 2 or 5 times a power of ten. */
function roundStep(value: number): number {
  if (value <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5].find((each) => each * power >= value) ?? 10
  return factor * power
}

/** A power of two, so that it has few digits in the units of sizes. */
function binaryStep(value: number): number {
  return value <= 1 ? 1 : 2 ** Math.ceil(Math.log2(value))
}
