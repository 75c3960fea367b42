import fastify, { type FastifyServerOptions, type InjectOptions, type RouteOptions } from 'fastify'
import type { OperatorEvent } from '../../core/audit/audit-trail.ts'
import { operatorIn } from '../../core/auth/subject.ts'
import { invalidParameter } from '../../core/errors.ts'
import type { Archives } from '../../core/files/archive.ts'
import { parseFileNamePrefix } from '../../core/files/file-name.ts'
import { parseUserId } from '../../core/users/user-id.ts'
import { createZip } from '../download/zip.ts'
import { decorateListener, IDLE_TIMEOUT_MS, REQUEST_RULES } from '../server/listener.ts'
import { appErrorOf } from '../server/problem.ts'
import type { OperatorUseCases } from './operator-plugin.ts'
import { addOperatorRoutes, takeOperatorRequests } from './operator-routes.ts'

export interface InProcessOptions {
  readonly useCases: OperatorUseCases & { readonly archives: Archives }
  /** Called with each failure of the audit trail; what the operator has done stands. */
  readonly onUnrecorded: (error: unknown) => void
}

interface ArchiveRequest {
  readonly userId: string
  readonly prefix: string
  readonly signal: AbortSignal
}

interface InProcessCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Such as `/admin/users/{user_id}`. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string | undefined>>
  /** The query of a GET, the members of another method's body. */
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * The admin API for the operator who runs this process; nothing listens. Both methods reject with the `AppError` of a
 * refusal. The audit trail has neither address nor request id of what they do, and the log nothing.
 */
export function createInProcess({ useCases, onUnrecorded }: InProcessOptions) {
  const { auditTrail, archives, users } = useCases
  const record = (event: OperatorEvent): Promise<void> =>
    auditTrail.record(event).catch(onUnrecorded)
  const { signal: never } = new AbortController()
  return {
    /** Resolves to the body of the answer, which it holds in memory. */
    async call({ method, path, parameters, input }: InProcessCall): Promise<string> {
      const refusal = Promise.withResolvers<never>()
      const app = fastify(STARTS_FAST)
      app.setErrorHandler((error, _request, reply) => {
        refusal.reject(appErrorOf(error))
        return reply.send()
      })
      const isCalled = ({ method: one, url }: RouteOptions): boolean =>
        one === method && url === routeOf(path)
      // A process makes one call. To compile the schemas of the others would take it 50 ms.
      app.addHook('onRoute', (route) => {
        if (!isCalled(route)) delete route.schema
      })
      decorateListener(app, {
        signals: { stopping: never, shutdown: never },
        idleTimeoutMs: IDLE_TIMEOUT_MS,
      })
      takeOperatorRequests(app)
      const audit = (_request: unknown, event: OperatorEvent) => record(event)
      await addOperatorRoutes(app, { useCases, audit })
      const url = path.replaceAll(PARAMETER, (_, name: string) => segmentOf(name, parameters))
      const answer = app.inject({ method, url, ...sentAs(method, input) })
      return (await Promise.race([refusal.promise, answer])).body
    },

    /** What `GET /admin/users/{user_id}/archive` sends, at the pace of its reader. */
    async archive({ userId, prefix, signal }: ArchiveRequest) {
      const user_id = parseUserId(userId)
      const selected = { prefix: parseFileNamePrefix(prefix) }
      const operator = await operatorIn(users, user_id, 'files')
      const files = await archives.list(operator, selected)
      await record({ action: 'files.archive', user_id, files: files.length })
      const { body } = createZip({ files, open: (file) => archives.open(file, signal), signal })
      return { files: files.length, body }
    },
  }
}

/** Without a check of the schemas, which takes 15 ms and which the listener makes. */
const STARTS_FAST = {
  ...REQUEST_RULES,
  ajv: { customOptions: { ...REQUEST_RULES.ajv.customOptions, validateSchema: false } },
} as const satisfies FastifyServerOptions

const PARAMETER = /\{(\w+)\}/g

/** Its pattern. A file name is all that follows. */
function routeOf(path: string): string {
  return path.replace('{file_name}', '*').replaceAll(PARAMETER, ':$1')
}

/** A URL cannot have a segment of one or two dots. */
function segmentOf(name: string, { [name]: value = '' }: InProcessCall['parameters']): string {
  if (value !== '.' && value !== '..') return encodeURIComponent(value)
  throw invalidParameter(name, `${name} must not be "${value}".`)
}

function sentAs(method: string, input: InProcessCall['input']): InjectOptions {
  const members = Object.entries(input).filter(([, value]) => value !== undefined)
  if (method !== 'GET') return members.length === 0 ? {} : { payload: Object.fromEntries(members) }
  return { query: Object.fromEntries(members.map(([name, value]) => [name, String(value)])) }
}
