import type { Static } from 'typebox'
import { LABEL_PATTERN, MAX_LABEL_LENGTH } from '../../core/auth/terms.ts'
import type { AskedLimits } from '../../core/links/drop-limits.ts'
import { MAX_PASSWORD_LENGTH, PASSWORD_PATTERN } from '../../core/links/link-password.ts'
import { type LinkChanges, MAX_USES } from '../../core/links/links.ts'
import { parseTimestamp } from '../../core/timestamp.ts'
import { Type } from '../openapi/type.ts'

export const LABEL = {
  maxLength: MAX_LABEL_LENGTH,
  pattern: LABEL_PATTERN,
  description: `A title, which visitors see: at most ${MAX_LABEL_LENGTH} characters, without control characters.`,
}

export const PASSWORD = {
  minLength: 1,
  maxLength: MAX_PASSWORD_LENGTH,
  pattern: PASSWORD_PATTERN,
  description: `The password that visitors must enter: 1 to ${MAX_PASSWORD_LENGTH} characters, without control characters.`,
}

export const USES = {
  minimum: 1,
  maximum: MAX_USES,
  description:
    'The link ends after this number of downloads or drops. By default, there is no limit.',
}

const limitOrNull = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `Of a drop link: ${description}, whatever becomes of the files. By default, and with \`null\`, as the operator sets.`,
    }),
  )

export const DROP_LIMITS = {
  max_bytes: limitOrNull('how many bytes it receives at most'),
  max_files: limitOrNull('how many files it receives at most'),
}

interface LimitMembers {
  readonly max_bytes?: number | null
  readonly max_files?: number | null
}

/** `DROP_LIMITS` in a body. */
export function limitsIn({ max_bytes: maxBytes, max_files: maxFiles }: LimitMembers): AskedLimits {
  return { maxBytes, maxFiles }
}

export const LinkChangesBody = Type.Object(
  {
    label: Type.Optional(Type.String(LABEL)),
    expires_at: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        format: 'date-time',
        description:
          'When the link ends, in the future; `null` for the latest time that is permitted, or for no end.',
      }),
    ),
    max_uses: Type.Optional(
      Type.Unsafe<number | null>({
        ...USES,
        type: ['integer', 'null'],
        description: 'The link ends after this number of downloads or drops; `null` for no limit.',
      }),
    ),
    password: Type.Optional(
      Type.Unsafe<string | null>({
        ...PASSWORD,
        type: ['string', 'null'],
        description: `${PASSWORD.description} \`null\` removes it.`,
      }),
    ),
    ...DROP_LIMITS,
  },
  {
    title: 'LinkChanges',
    description: 'What is to change of the link.',
    additionalProperties: false,
    examples: [{ label: 'The report', expires_at: '2026-12-21T12:00:00.000Z' }],
  },
)

/** Throws as `parseTimestamp` does. */
export function linkChangesIn(body: Static<typeof LinkChangesBody>): LinkChanges {
  const { label, expires_at: expiry, max_uses: maxUses, password } = body
  const expiresAt = typeof expiry === 'string' ? parseTimestamp(expiry, 'expires_at') : expiry
  return { label, expiresAt, maxUses, password, limits: limitsIn(body) }
}
