import type { OwnToken, TokenAction, TokenScope } from './model.ts'

/** Whether the scope has one of the actions. */
export function permits(scope: TokenScope | null, ...anyOf: readonly TokenAction[]): boolean {
  return scope === null || anyOf.some((action) => scope.actions.includes(action))
}

/** The name, with the prefix of the scope in front unless it begins with it. */
export function within(scope: TokenScope | null, name: string): string {
  const { prefix } = scope ?? EVERY_NAME
  return name.startsWith(prefix) ? name : prefix + name
}

const EVERY_NAME = { prefix: '' }

const DAY_MS = 24 * 3600 * 1000

/** The terms, in days, of what ends before the token does. What has no term of its own, 0, ends with it. */
export function termsWithin(
  token: OwnToken | undefined,
  terms: readonly number[],
): readonly number[] {
  return termsUntil(endOf(token), terms)
}

export function termsUntil(end: number | undefined, terms: readonly number[]): readonly number[] {
  return end === undefined ? terms : terms.filter((days) => days * DAY_MS < end - Date.now())
}

/** When what the token makes ends at the latest; only one with a scope ends all that it has made. */
function endOf(token: OwnToken | undefined): number | undefined {
  const { scope = null, expires_at: end = null } = token ?? {}
  return scope === null || end === null ? undefined : Date.parse(end)
}

/** As `endOf`, of the tokens that it makes, which the operator can bound too. */
export function endOfTokens(token: OwnToken | undefined): number | undefined {
  const { max_token_lifetime: seconds = Infinity } = token ?? {}
  const end = Math.min(endOf(token) ?? Infinity, Date.now() + seconds * 1000)
  return Number.isFinite(end) ? end : undefined
}
