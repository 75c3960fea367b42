/** What may be held of a limit. */
export interface Share {
  /** By one credential. */
  readonly own: number
  /** By all together, for this credential to get more. */
  readonly all: number
}

/**
 * A narrow credential is refused when it holds a quarter of a limit itself, or all together nine tenths
 * (core/quota/README.md).
 */
export function shareFor(limit: number, credential: string | undefined): Share {
  if (credential === undefined) return { own: limit, all: limit }
  return { own: Math.ceil(limit / 4), all: Math.floor((limit * 9) / 10) }
}

export interface Held {
  readonly own: number
  readonly all: number
}

/** Whether the share has room for one more. */
export function isWithin({ own, all }: Share, held: Held): boolean {
  return held.own < own && held.all < all
}
