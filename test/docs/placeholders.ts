import type { Clock } from './clock.ts'

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const REQUEST_ID = /(?:x-request-id: |"request_id":")([0-9a-f-]{36})/i

/**
 * Puts fixed texts in place of what no two recordings have in common, each of the length of what it stands for, so that
 * every `Content-Length` stays true: tokens, request ids, versions, the header `Date` and the seconds to wait. One
 * stands for the same value wherever that is.
 */
export interface Placeholders {
  /** What stands for a token of that user. */
  hide(token: string, userId: string): void
  replace(text: string): string
}

export function createPlaceholders(clock: Clock): Placeholders {
  const tokens = new Map<string, string>()
  const requests = new Map<string, string>()
  const versions = new Map<string, string>()

  function uuidOf(uuid: string, isRequest: boolean): string {
    const [known, prefix] = isRequest
      ? [requests, '6f1c1c0e-52c4-4f0e-9d0b-']
      : [versions, '019ab1c2-7b1e-7c3a-9a57-']
    const placeholder = known.get(uuid) ?? prefix + String(known.size + 1).padStart(12, '0')
    known.set(uuid, placeholder)
    return placeholder
  }

  return {
    hide(token, userId) {
      const words = `crt_this-stands-for-the-access-token-of-${userId}`
      tokens.set(token, words.padEnd(token.length, '-').slice(0, token.length))
    },
    replace(text) {
      const [, requestId] = REQUEST_ID.exec(text) ?? []
      const uuids = text.replaceAll(UUID, (uuid) => uuidOf(uuid, uuid === requestId))
      const dated = uuids.replace(/^date: .*\r$/im, `Date: ${clock.date().toUTCString()}\r`)
      const patient = dated.replaceAll(
        /("retry_after":|retry-after: )\d\d\b/g,
        (_all, name: string) => `${name}60`,
      )
      return [...tokens].reduce((sum, [token, words]) => sum.replaceAll(token, words), patient)
    },
  }
}
