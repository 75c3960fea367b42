import { isByteSize, parseByteSize } from '../byte-size.ts'
import { invalidParameter } from '../errors.ts'

/**
 * How much of its account the files of a device may take: all that the account has, at most what the device itself
 * grants, or at most so many bytes.
 */
export type DeviceShare = NamedShare | number

type NamedShare = (typeof NAMED_SHARES)[number]

export const NAMED_SHARES = ['all', 'own'] as const

/** Throws `invalid_parameter`. */
export function assertDeviceShare(share: DeviceShare): void {
  if (isByteSize(share) || NAMED_SHARES.some((name) => name === share)) return
  const detail = 'share must be "all", "own", or an integer between 0 and 2^53 - 1.'
  throw invalidParameter('share', detail)
}

/** A share as people write it: `all`, `own`, or a size such as `20GiB`. Throws `invalid_parameter`. */
export function parseDeviceShare(text: string): DeviceShare {
  const named = NAMED_SHARES.find((name) => name === text)
  if (named !== undefined) return named
  try {
    return parseByteSize(text)
  } catch (error) {
    const detail = `"${text}" is not a share. Use all, own, or a size such as 20GiB.`
    throw invalidParameter('share', detail, error)
  }
}
