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
  const { scope = null, expires_at: end = null } = token ?? {}
  if (scope === null || end === null) return terms
  const left = Date.parse(end) - Date.now()
  return terms.filter((days) => days * DAY_MS < left)
}
