import { capacityExceeded } from '../../../../src/core/quota/refusal.ts'
import { readUsage } from '../../../support/read-usage.ts'
import type { Variant } from '../world/world.ts'
import { withoutCapacity } from './without-capacity.ts'

/** Bugs in what metadata count, and in what narrow credentials get. The checker must find them all. */
export const PLANTED_SHARE_BUGS: Readonly<Record<string, Variant>> = {
  'lets metadata grow beyond the capacity': {
    sharedLedger: (world) => ({
      updateFile: (update) =>
        withoutCapacity(world, update.userId, (ledger) => ledger.updateFile(update)),
    }),
  },

  'counts all bytes of metadata before it changes them': {
    sharedLedger: ({ ledger }) => ({
      async updateFile(update) {
        const usage = await readUsage(ledger, update.userId)
        const bytes = Buffer.byteLength(JSON.stringify(update.metadata ?? ''))
        const file = await ledger.findFile({ ...update, audience: 'owner' })
        if (update.metadata && file && usage && usage.used + bytes > usage.capacity) {
          throw capacityExceeded(usage, bytes)
        }
        return ledger.updateFile(update)
      },
    }),
  },

  'loses the metadata that an upload sends': {
    sharedLedger: ({ ledger }) => ({
      commit: ({ metadata: _metadata, ...upload }) => ledger.commit(upload),
    }),
  },

  'gives a narrow credential the whole limit of uploads': {
    sharedLedger: ({ ledger }) => ({
      begin: (upload) =>
        ledger.begin({ ...upload, maxUploads: upload.maxUploads * (upload.credential ? 4 : 1) }),
    }),
  },

  'gives a narrow credential the whole limit of unfinished uploads': {
    sharedLedger: ({ ledger }) => ({
      createResumable: (upload) =>
        ledger.createResumable({
          ...upload,
          maxUnfinished: upload.maxUnfinished * (upload.credential ? 4 : 1),
        }),
    }),
  },

  'gives narrow credentials the last file': {
    sharedLedger: ({ ledger }) => ({
      begin: (upload) => ledger.begin({ ...upload, maxFiles: upload.maxFiles + 1 }),
      commit: (upload) => ledger.commit({ ...upload, maxFiles: upload.maxFiles + 1 }),
    }),
  },

  'takes all narrow credentials for one': {
    sharedLedger: ({ ledger }) => ({
      begin: (upload) => ledger.begin({ ...upload, credential: upload.credential && 'token-a' }),
    }),
  },

  'reserves what a narrow credential announces': {
    sharedLedger: ({ ledger }) => ({
      async begin(upload) {
        await ledger.begin(upload)
        if (upload.credential === undefined) return
        const { userId, userCreatedAt, version, bytes, leaseMs, evict } = upload
        await ledger
          .extend({ userId, userCreatedAt, version, bytes, leaseMs, evict })
          .catch(() => undefined)
      },
    }),
  },
}
