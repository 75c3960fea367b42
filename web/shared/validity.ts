const DAY_SECONDS = 24 * 3600

/** The member of a request that asks for the validity. */
export function validityOf(days: number): { readonly expires_in?: number } {
  return days > 0 ? { expires_in: days * DAY_SECONDS } : {}
}
