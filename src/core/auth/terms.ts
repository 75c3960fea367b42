import { type AppError, invalidParameter } from '../errors.ts'

/** What tokens and links have in common. */
export interface Terms {
  readonly label: string
  readonly expiresInSeconds: number | undefined
}

/** The length is in UTF-16 code units. */
export const MAX_LABEL_LENGTH = 200

/** JSON Schema pattern: no control characters, which a terminal would obey. */
export const LABEL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const LABEL = new RegExp(LABEL_PATTERN)

/** A hundred years: every client can still parse the expiry. */
export const MAX_EXPIRES_IN_SECONDS = 100 * 366 * 24 * 3600

/** Throws `invalid_parameter`. */
export function assertTerms({ label, expiresInSeconds }: Terms): void {
  // Unpaired surrogates are refused: not every database accepts them.
  if (label.length > MAX_LABEL_LENGTH || !LABEL.test(label) || !label.isWellFormed()) {
    throw invalidParameter(
      'label',
      `label must be at most ${MAX_LABEL_LENGTH} characters and must not contain control characters.`,
    )
  }
  const seconds = expiresInSeconds ?? 1
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_EXPIRES_IN_SECONDS) {
    throw invalidExpiresIn()
  }
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
