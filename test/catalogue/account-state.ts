import { call } from '../http/admin/fixture.ts'
import type { TestService } from '../support/service/test-service.ts'

/** The lists of the admin API. Each is a part of an account that an operation may change. */
const LISTS = {
  users: '?order=-created_at&limit=3',
  files: '/:id/files?limit=100',
  history: '/:id/history?limit=100',
  uploads: '/:id/uploads?limit=100',
  links: '/:id/links?limit=100',
  tokens: '/:id/access-tokens?limit=100',
  devices: '/:id/devices?limit=100',
  grants: '/:id/grants?limit=100',
} as const

export type Part = keyof typeof LISTS | 'webhooks' | 'operators'

export type AccountState = Readonly<Record<Part, string>>

/** What operators see of a user, and of all users and events, without the times of use and figures that follow. */
export async function readState(service: TestService, userId: string): Promise<AccountState> {
  const read = async (at: string): Promise<string> => {
    const { status, body } = await call(service, { method: 'GET', at })
    return `${status} ${body.toString().replaceAll(VOLATILE, '')}`
  }
  const lists = Object.entries(LISTS).map(
    async ([part, path]) =>
      [part, await read(`/admin/users${path.replace(':id', userId)}`)] as const,
  )
  const parts = await Promise.all([
    ...lists,
    read('/admin/operators').then((operators) => ['operators', operators] as const),
    read('/admin/webhooks/parked?limit=1000').then((parked) => ['webhooks', parked] as const),
  ])
  return Object.fromEntries(parts) as Record<Part, string>
}

/** The request id of a refusal, when a token or link was used, and the capacity in a list of users. */
const VOLATILE = /"(request_id|last_used_at)":("[^"]*"|null),?|"capacity":\{[^}]*\}/g

export function changedParts(before: AccountState, after: AccountState): readonly Part[] {
  const parts = Object.keys(before) as Part[]
  return parts.filter((part) => before[part] !== after[part])
}
