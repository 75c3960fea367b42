import { createHmac } from 'node:crypto'

export interface Signed {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The value of `webhook-signature` (Standard Webhooks): one signature for each secret, separated by spaces. */
export function signaturesOf({ id, timestamp, body }: Signed, secrets: readonly Buffer[]): string {
  const signed = `${id}.${timestamp}.${body}`
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ')
}
