import { randomUUID } from 'node:crypto'
import type { NewAccessToken, TokenMaker } from '../../../src/core/auth/access-token-store.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'

export function tokenOf(userId: UserId): NewAccessToken {
  return {
    userId,
    tokenId: randomUUID(),
    sha256: randomUUID().replaceAll('-', '').repeat(2),
    label: 'a label',
    expiresInMs: undefined,
    scope: undefined,
    parent: undefined,
  }
}

/** An issued token without a scope, unless it says another. */
export function makerOf(tokenId: string, maker: Partial<TokenMaker> = {}): TokenMaker {
  return {
    tokenId,
    isJwt: false,
    isScoped: false,
    leftMs: undefined,
    credential: undefined,
    ...maker,
  }
}

/** Of a JWT without a scope. */
export function jwtMaker(digit: string): TokenMaker {
  return makerOf(digit.repeat(64), { isJwt: true, leftMs: 1_000 })
}
