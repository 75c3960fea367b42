import { capacityExceeded } from '../../../../src/core/quota/refusal.ts'
import { readUsage } from '../../../support/read-usage.ts'
import { ledgerWith, type Variant } from '../world/world.ts'
import { MAX_FILES, MAX_UNFINISHED, MAX_UPLOADS } from './parameters.ts'
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
    sharedLedger: (world) => {
      const narrow = ledgerWith(world, { maxUploads: 4 * MAX_UPLOADS })
      return { begin: (upload) => (upload.credential ? narrow : world.ledger).begin(upload) }
    },
  },

  'gives a narrow credential the whole limit of unfinished uploads': {
    sharedLedger: (world) => {
      const narrow = ledgerWith(world, { maxUnfinished: 4 * MAX_UNFINISHED })
      return {
        createResumable: (upload) =>
          (upload.credential ? narrow : world.ledger).createResumable(upload),
      }
    },
  },

  'gives narrow credentials the last file': {
    sharedLedger: (world) => {
      const lax = ledgerWith(world, { maxFiles: MAX_FILES + 1 })
      return {
        begin: (upload) => lax.begin(upload),
        commit: (upload) => lax.commit(upload),
      }
    },
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
        const { userId, userCreatedAt, version, bytes, evict } = upload
        await ledger.extend({ userId, userCreatedAt, version, bytes, evict }).catch(() => undefined)
      },
    }),
  },
}
