import { isLongerThan } from '../characters.ts'
import { type AppError, invalidParameter } from '../errors.ts'

/** What tokens and links have in common. */
export interface Terms {
  readonly label: string
  readonly expiresInSeconds: number | undefined
}

export const MAX_LABEL_LENGTH = 200

/** JSON Schema pattern: no control characters, which a terminal would obey. */
export const LABEL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const LABEL = new RegExp(LABEL_PATTERN)

/** A hundred years: every client can still parse the expiry. */
export const MAX_EXPIRES_IN_SECONDS = 100 * 366 * 24 * 3600

/** Throws `invalid_parameter`. */
export function assertTerms({ label, expiresInSeconds }: Terms): void {
  assertLabel(label)
  const seconds = expiresInSeconds ?? 1
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_EXPIRES_IN_SECONDS) {
    throw invalidExpiresIn()
  }
}

/** Whether it can be the label of a token, a link or a device. */
export function isLabel(text: string): boolean {
  // Unpaired surrogates are refused: not every database accepts them.
  return !isLongerThan(text, MAX_LABEL_LENGTH) && LABEL.test(text) && text.isWellFormed()
}

/** Throws `invalid_parameter`. */
export function assertLabel(label: string): void {
  if (!isLabel(label)) {
    throw invalidParameter(
      'label',
      `label must be at most ${MAX_LABEL_LENGTH} characters and must not contain control characters.`,
    )
  }
}

/** Throws `invalid_parameter` for a longer life than the operator permits. */
export function assertLife(terms: Terms, maxLifeMs = Number.POSITIVE_INFINITY): void {
  if ((lifeMs(terms) ?? 0) <= maxLifeMs) return
  const seconds = Math.floor(maxLifeMs / 1000)
  throw invalidParameter('expires_in', `expires_in must be at most ${seconds} here.`)
}

export function invalidExpiresIn(): AppError {
  return invalidParameter(
    'expires_in',
    `expires_in must be a whole number of seconds between 1 and ${MAX_EXPIRES_IN_SECONDS}.`,
  )
}

export function lifeMs({ expiresInSeconds }: Terms): number | undefined {
  return expiresInSeconds === undefined ? undefined : expiresInSeconds * 1000
}
