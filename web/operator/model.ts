import type { Figures } from '../shared/model.ts'

export type AccountStatus = 'active' | 'suspended' | 'deleted'

/** A user as the admin API describes one. */
export interface Account {
  readonly user_id: string
  readonly status: AccountStatus
  readonly created_at: string
  readonly capacity: Figures & {
    readonly file_count: number
    readonly state: 'normal' | 'nearing' | 'critical' | 'exceeded'
  }
}

export interface AccountPage {
  readonly users: readonly Account[]
  readonly next_cursor: string | null
}

export interface Device {
  readonly device_id: string
  readonly model: string | null
  readonly bytes: number
  readonly created_at: string
}

/** A grant of capacity, from a device or another source. */
export interface Grant {
  readonly source: string
  readonly reference: string
  readonly bytes: number
  readonly starts_at: string | null
  readonly ends_at: string | null
}

/** A resumable upload that is not a file yet. Sizes are in bytes. */
export interface UnfinishedUpload {
  readonly upload_id: string
  readonly name: string
  readonly state: 'open' | 'receiving' | 'complete'
  readonly offset: number
  readonly length: number | null
  readonly expires_at: string
}

/** An event that could not be delivered for a day. */
export interface ParkedWebhook {
  readonly webhook_id: string
  readonly user_id: string
  readonly type: string
  readonly at: string
  readonly reason: string
}

export interface ParkedWebhookPage {
  readonly webhooks: readonly ParkedWebhook[]
}
