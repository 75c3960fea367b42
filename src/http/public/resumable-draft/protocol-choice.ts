import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { completeness, INTEROP_VERSION, interopVersion } from './draft-headers.ts'

/** The constraint of routes that serve requests in the draft's protocol; other requests don't match them. */
export const SPEAKS_DRAFT = { protocol: 'draft' } as const

/** Adds the constraint to the router; call it before such routes are registered. */
export function chooseProtocol(
  app: FastifyInstance,
  { interimResponses }: { readonly interimResponses: boolean },
): void {
  app.addConstraintStrategy({
    name: 'protocol',
    storage: () => {
      const handlers = new Map<unknown, never>()
      return {
        get: (value) => handlers.get(value) ?? null,
        set: (value, handler) => void handlers.set(value, handler as never),
      }
    },
    mustMatchWhenDerived: false,
    deriveConstraint: (request: IncomingMessage) =>
      speaksDraft(request, interimResponses) ? SPEAKS_DRAFT.protocol : undefined,
  })
}

/**
 * Whether the draft's routes serve the request. What is not said to be a whole file is never a plain upload, in any
 * version of either protocol: a part would be stored as the file. A whole file that would get no 104 could not be
 * resumed, so it is a plain upload, as is a whole form.
 */
function speaksDraft(
  { method, headers, httpVersion }: IncomingMessage,
  interimResponses: boolean,
): boolean {
  const isVersion = interopVersion(headers) === INTEROP_VERSION
  if (method !== 'PUT' && method !== 'POST') {
    return isVersion && headers['tus-resumable'] === undefined
  }
  if (headers['upload-complete'] === undefined) return false
  if (completeness(headers) !== true) return true
  if (!isVersion) return false
  return method === 'POST' ? !isForm(headers) : interimResponses && httpVersion === '1.1'
}

export function isForm({ 'content-type': type = '' }: IncomingMessage['headers']): boolean {
  return /^\s*multipart\/form-data\b/i.test(type)
}
