import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { INTEROP_VERSION, interopVersion } from './draft-headers.ts'

const UPLOAD_RESUMPTION_SUPPORTED = 104

export interface InterimOptions {
  /** Whether no proxy in front breaks on them. */
  readonly interimResponses: boolean
}

/**
 * Sends a 104 with these headers. `false` if it must not: clients of HTTP/1.0 know no interim responses (RFC 9110
 * section 15.2), and the draft forbids them to clients of other versions.
 */
export function sendInterim(
  { raw: { httpVersion }, headers: asked }: FastifyRequest,
  { raw: response }: FastifyReply,
  { interimResponses, headers }: InterimOptions & { readonly headers: OutgoingHttpHeaders },
): boolean {
  if (!interimResponses || httpVersion !== '1.1' || interopVersion(asked) !== INTEROP_VERSION) {
    return false
  }
  if (response.headersSent || response.destroyed) return false
  // A client that reads none of them would otherwise make them pile up for as long as it sends its body.
  if (response.writableLength > 0) return false
  const version = { 'Upload-Draft-Interop-Version': INTEROP_VERSION }
  response.writeInformation(UPLOAD_RESUMPTION_SUPPORTED, { ...version, ...headers })
  return true
}
