import type { RawExchange } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask } from '../fixture.ts'

export interface Result {
  readonly op: string
  readonly name: string | null
  readonly file: Readonly<Record<string, unknown>> | null
  readonly prefix?: string
  readonly new_prefix?: string
  readonly matched?: number
}

export type Batch = (operations: unknown, of?: TestUser) => Promise<RawExchange>

export const BATCH_PATH = '/users/me/batch'

export function batchOf(
  service: TestService,
  { user, operations }: { readonly user: TestUser | undefined; readonly operations: unknown },
): Promise<RawExchange> {
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ operations })
  return ask(service, { user, method: 'POST', path: BATCH_PATH, headers, body })
}
