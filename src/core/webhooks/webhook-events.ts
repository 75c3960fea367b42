import { CHANGE_EVENTS } from '../changes/change.ts'

/** All types of events, but for the `ping` of `doctor`. */
export const WEBHOOK_EVENTS = [...CHANGE_EVENTS, 'user.purged'] as const

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]
