import type { Readable } from 'node:stream'

/** The admin API, in this process. Both reject with the `AppError` of a refusal. */
export interface Admin {
  /** Resolves to the body of the answer. */
  call(request: AdminRequest): Promise<string>
  /** What `GET /admin/users/{user_id}/archive` sends. */
  archive(request: {
    readonly userId: string
    readonly prefix: string
    readonly signal: AbortSignal
  }): Promise<{ readonly files: number; readonly body: Readable }>
}

export interface AdminRequest {
  readonly method: Method
  /** Such as `/admin/users/{user_id}`. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string | undefined>>
  /** The query of a GET, the members of another method's body. Those that are `undefined` are left out. */
  readonly input: Json
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A JSON object of the admin API. */
export type Json = Readonly<Record<string, unknown>>
