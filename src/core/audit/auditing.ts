import type { AccessTokens } from '../auth/access-tokens.ts'
import type { Archives } from '../files/archive.ts'
import type { FileAdministration } from '../files/file-administration.ts'
import type { HistoryAdministration } from '../history/history-administration.ts'
import type { LinkAdministration } from '../links/link-administration.ts'
import type { Grants } from '../quota/grants.ts'
import type { UploadAdministration } from '../resumable/upload-administration.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { Users } from '../users/users.ts'
import type { ParkedWebhooks } from '../webhooks/parked-webhooks.ts'
import type { OperatorEvent } from './audit-trail.ts'

/** What operators do with users, by the admin API and by the command line. */
export interface OperatorUseCases {
  readonly users: Users
  readonly accessTokens: AccessTokens
  readonly grants: Grants
  readonly uploadAdministration: UploadAdministration
  readonly fileAdministration: FileAdministration
  readonly historyAdministration: HistoryAdministration
  readonly linkAdministration: LinkAdministration
  readonly archives: Archives
  readonly parkedWebhooks: ParkedWebhooks
}

/** Calls `record` after each method that has changed something, or has listed or archived a user's files. */
export function auditing(
  useCases: OperatorUseCases,
  record: (event: OperatorEvent) => Promise<void>,
): OperatorUseCases {
  const { users, accessTokens, grants, uploadAdministration, fileAdministration } = useCases
  const { historyAdministration, linkAdministration, archives, parkedWebhooks } = useCases
  return {
    users: {
      ...users,
      async create(wanted) {
        const { userId, created } = await users.create(wanted)
        if (created) await record({ action: 'user.create', user_id: userId })
        return { userId, created }
      },
      async setStatus(user_id, status) {
        await users.setStatus(user_id, status)
        await record({ action: 'user.set_status', user_id, status })
      },
      async remove(user_id) {
        await users.remove(user_id)
        await record({ action: 'user.delete', user_id })
      },
    },
    accessTokens: {
      ...accessTokens,
      async issue(token) {
        const issued = await accessTokens.issue(token)
        const { tokenId: token_id, label, scope } = issued
        const actions = scope?.actions.join(',')
        const terms = { token_id, label, actions, device_id: scope?.deviceId }
        await record({ action: 'access_token.issue', user_id: token.userId, ...terms })
        return issued
      },
      async revoke(token) {
        await accessTokens.revoke(token)
        const { userId: user_id, tokenId: token_id } = token
        await record({ action: 'access_token.revoke', user_id, token_id })
      },
    },
    grants: {
      ...grants,
      async putDevice(device) {
        const { grant, created } = await grants.putDevice(device)
        const { reference: device_id, model, bytes } = grant
        const terms = { device_id, model, bytes, created }
        await record({ action: 'device.put', user_id: device.userId, ...terms })
        return { grant, created }
      },
      async removeDevice(device) {
        await grants.removeDevice(device)
        const { userId: user_id, deviceId: device_id } = device
        await record({ action: 'device.remove', user_id, device_id })
      },
      async putGrant(asked) {
        const { grant, created } = await grants.putGrant(asked)
        const { source, reference, bytes } = grant
        const starts_at = formatTimestamp(grant.startsAt)
        const ends_at = formatTimestamp(grant.endsAt)
        const terms = { source, reference, bytes, starts_at, ends_at, created }
        await record({ action: 'grant.put', user_id: asked.userId, ...terms })
        return { grant, created }
      },
      async revokeGrant(grant) {
        await grants.revokeGrant(grant)
        const { userId: user_id, source, reference } = grant
        await record({ action: 'grant.revoke', user_id, source, reference })
      },
    },
    uploadAdministration: {
      ...uploadAdministration,
      async cancel(upload) {
        await uploadAdministration.cancel(upload)
        await record({ action: 'upload.cancel', user_id: upload.userId, upload_id: upload.version })
      },
    },
    fileAdministration: {
      async list(page) {
        const listed = await fileAdministration.list(page)
        await record({ action: 'files.list', user_id: page.userId, files: listed.files.length })
        return listed
      },
      async remove(file) {
        const version = await fileAdministration.remove(file)
        await record({ action: 'file.delete', user_id: file.userId, version })
        return version
      },
    },
    historyAdministration: {
      ...historyAdministration,
      async restore(past) {
        const restored = await historyAdministration.restore(past)
        const { userId: user_id, version, overwrite } = past
        await record({ action: 'history.restore', user_id, version, overwrite })
        return restored
      },
    },
    linkAdministration: {
      ...linkAdministration,
      async revoke(link) {
        await linkAdministration.revoke(link)
        await record({ action: 'link.revoke', user_id: link.userId, link_id: link.linkId })
      },
    },
    archives: {
      ...archives,
      async listAny(user_id, selected) {
        const files = await archives.listAny(user_id, selected)
        await record({ action: 'files.archive', user_id, files: files.length })
        return files
      },
    },
    parkedWebhooks: {
      ...parkedWebhooks,
      async retry(webhook_id, signal) {
        const parked = await parkedWebhooks.retry(webhook_id, signal)
        await record({ action: 'webhook.retry', user_id: parked.userId, webhook_id })
        return parked
      },
      async discard(webhook_id) {
        const parked = await parkedWebhooks.discard(webhook_id)
        if (parked === undefined) return undefined
        await record({ action: 'webhook.discard', user_id: parked.userId, webhook_id })
        return parked
      },
    },
  }
}
