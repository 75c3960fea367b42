import type { Action } from '../../src/core/auth/scope.ts'
import type { ErrorCode } from '../../src/core/error-codes.ts'
import type { OperatorRole } from '../../src/core/operators/operator.ts'
import type { Part } from './account-state.ts'
import type { Scene } from './scene.ts'

/** A request without its credentials. */
export interface Sent {
  readonly path: string
  /** `GET` when left out. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What every rule for operations is tested with. */
export interface Operation {
  /** A request that succeeds once in a new scene. */
  readonly sent: (scene: Scene) => Sent
  /** The status of its response. */
  readonly status: number
  /** What its body says of the scene; of each GET that answers with JSON. */
  readonly shows?: (scene: Scene) => object
  /** A token with a scope must permit one of these; empty if no token permits more than another. */
  readonly anyOf?: readonly Action[]
  /** An action that the token must permit in addition. */
  readonly and?: Action
  /** Whether the path, query or body names the file of the scene. */
  readonly isNamed?: true
  /** The least role of an operator, whose credentials the request needs. */
  readonly role?: OperatorRole
  /** What of the account the request changes; nothing when left out. */
  readonly changes?: readonly Part[]
  /** What the audit trail calls the request of an operator. */
  readonly audited?: string
  /** A request that is refused, and changes nothing. */
  readonly refused: (scene: Scene) => readonly [sent: Sent, status: number, code: ErrorCode]
}

export function get(path: string): Sent {
  return { path }
}

export function remove(path: string, headers = {}): Sent {
  return { method: 'DELETE', path, headers }
}

export function post(path: string): Sent {
  return { method: 'POST', path }
}

export function json(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): Sent {
  const headers = { 'Content-Type': 'application/json' }
  return { method, path, headers, body: JSON.stringify(body) }
}
