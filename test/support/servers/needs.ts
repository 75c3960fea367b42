import { messageOf } from '../../../src/core/errors.ts'

/** How the reason begins for which tests were skipped; the run repeats these lines at its end. */
export const NOT_RUN = 'NOT RUN: '

/**
 * Whether tests have to be skipped on this machine: they are when there is a reason, which is printed. With
 * REQUIRE_SERVICES=1 (CI) it is thrown instead, and the test file fails.
 */
export function isSkipped(reason: string | undefined): boolean {
  if (reason === undefined) return false
  if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(reason)
  warnNotRun(reason)
  return true
}

/** Says that tests were skipped, also in CI: for what takes too long to install there. */
export function warnNotRun(reason: string): void {
  console.warn(NOT_RUN + reason)
}

/** Why something that tests need can't be had, or `undefined` if it can. */
export function whyMissing(needed: Promise<unknown>): Promise<string | undefined> {
  return needed.then(
    () => undefined,
    (error: unknown) => messageOf(error),
  )
}
