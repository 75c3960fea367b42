import { MAX_PAGE_LIMIT } from '../../core/pagination.ts'
import { parkedJson } from '../../core/webhooks/parked-webhooks.ts'
import type { ParkedWebhook } from '../../core/webhooks/webhook-ledger.ts'
import type { Command } from '../command.ts'
import type { Row } from '../render.ts'

export const WEBHOOKS: readonly Command[] = [
  {
    words: ['webhooks', 'parked'],
    summary: 'list the events that could not be delivered for 24 hours',
    run: async ({ parkedWebhooks }) => {
      const rows: Row[] = []
      for (let after: ParkedWebhook | undefined, isLast = false; !isLast;) {
        const page = await parkedWebhooks.list({ after, limit: MAX_PAGE_LIMIT })
        rows.push(...page.map(parkedJson))
        after = page.at(-1)
        isLast = page.length < MAX_PAGE_LIMIT
      }
      return rows
    },
  },
  {
    words: ['webhooks', 'retry'],
    operands: ['<webhook_id>'],
    summary: 'send a parked event once more',
    run: async ({ parkedWebhooks }, { operands, interruption }) => {
      await parkedWebhooks.retry(operands[0] ?? '', interruption())
      return undefined
    },
  },
  {
    words: ['webhooks', 'discard'],
    operands: ['<webhook_id>'],
    summary: 'forget a parked event',
    run: async ({ parkedWebhooks }, { operands }) => {
      await parkedWebhooks.discard(operands[0] ?? '')
      return undefined
    },
  },
]
