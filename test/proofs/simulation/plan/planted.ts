import { NEVER } from '../../../../src/core/files/file.ts'
import { sql } from 'kysely'
import { availableBytes } from '../../../../src/core/quota/capacity.ts'
import { capacityExceeded, uploadCountExceeded } from '../../../../src/core/quota/refusal.ts'
import { isAppError } from '../../../../src/core/errors.ts'
import type { BeginUpload } from '../../../../src/core/uploads/upload-ledger.ts'
import { createSweeper } from '../../../../src/core/sweep/sweeper.ts'
import type { Version } from '../../../../src/core/objects/object-key.ts'
import type { Ledger } from '../../../../src/database/ledger.ts'
import { LEASE_MS, MAX_UPLOADS } from './parameters.ts'
import { ledgerWith, type Variant } from '../world/world.ts'
import { readUsage } from '../../../support/read-usage.ts'
import { withoutCapacity } from './without-capacity.ts'

/** Bugs that services of this kind have had, each as a variant of the sound one. The checker must find them all. */
export const PLANTED_BUGS: Readonly<Record<string, Variant>> = {
  'commits before the end of the form': {
    repository: (repository) => ({
      async upload(request) {
        const { incoming } = request
        const end = (): Promise<void> => Promise.resolve()
        const committed = await repository.upload({ ...request, incoming: { ...incoming, end } })
        await incoming.end()
        return committed
      },
    }),
  },

  'removes the old object before the commit': {
    ledger: ({ ledger, objects }) => {
      const { begun, ...remembering } = remember(ledger)
      return {
        ...remembering,
        async commit(upload) {
          const asked = begun(upload.version)
          const old = asked && (await ledger.findFile({ ...asked, audience: 'owner' }))
          if (old !== undefined) {
            const { signal } = new AbortController()
            await objects.remove({ key: old.objectKey, signal }).catch(() => undefined)
          }
          return ledger.commit(upload)
        },
      }
    },
  },

  'lets in one upload too many': {
    sharedLedger: (world) => {
      const lax = ledgerWith(world, { maxUploads: MAX_UPLOADS + 1 })
      return { begin: (upload) => lax.begin(upload) }
    },
  },

  'counts uploads whose lease is over': {
    sharedLedger: ({ ledger, database }) => ({
      async begin(upload) {
        const { rows } = await sql<{ readonly uploads: number }>`
          SELECT COUNT(*) AS uploads FROM uploads
          WHERE user_id = ${upload.userId} AND state = 'pending'
        `.execute(database.kysely)
        if ((rows[0]?.uploads ?? 0) >= MAX_UPLOADS) {
          throw uploadCountExceeded({ bound: MAX_UPLOADS, of: 'user' })
        }
        return ledger.begin(upload)
      },
    }),
  },

  'releases a reservation twice': {
    sharedLedger: ({ ledger, database }) => ({
      async abort(upload) {
        const { version, userId } = upload
        const { rows } = await sql<{ readonly reserved_bytes: number }>`
          SELECT reserved_bytes FROM uploads WHERE version = ${version} AND state = 'aborted'
        `.execute(database.kysely)
        await sql`
          UPDATE quotas SET reserved_bytes = max(0, reserved_bytes - ${rows[0]?.reserved_bytes ?? 0})
          WHERE user_id = ${userId}
        `.execute(database.kysely)
        return ledger.abort(upload)
      },
    }),
  },

  'sweeps by age alone': {
    sweeper: (ports, { timeline, database }) => {
      const sweeper = createSweeper(ports)
      return {
        ...sweeper,
        async sweep({ signal }) {
          for await (const { key } of ports.objects.list({ prefix: 'users/', signal })) {
            const { rows } = await sql`
              SELECT name FROM files WHERE object_key = ${key}
            `.execute(database.kysely)
            const isOld = bornAt(key) < timeline.now - LEASE_MS
            if (isOld && rows.length === 0) await ports.objects.remove({ key, signal })
          }
          return sweeper.sweep({ signal })
        },
      }
    },
  },

  'checks the capacity, then adds': {
    sharedLedger: (world) => ({
      begin: (upload) => withoutCapacity(world, upload.userId, (ledger) => ledger.begin(upload)),
      extend: (upload) => withoutCapacity(world, upload.userId, (ledger) => ledger.extend(upload)),
      commit: (upload) => withoutCapacity(world, upload.userId, (ledger) => ledger.commit(upload)),
    }),
    ledger: ({ ledger }) => ({
      async begin(upload) {
        const usage = await readUsage(ledger, upload.userId)
        if (usage !== undefined && upload.bytes > availableBytes(usage)) {
          throw capacityExceeded(usage, upload.bytes)
        }
        return ledger.begin(upload)
      },
    }),
  },

  'commits after its lease was lost': {
    sharedLedger: ({ ledger, database }) => ({
      async commit(upload) {
        const { version, userId } = upload
        const { rows } = await sql<{ readonly reserved_bytes: number }>`
          UPDATE uploads SET state = 'pending', settled_at = NULL
          WHERE version = ${version} AND state = 'aborted' RETURNING reserved_bytes
        `.execute(database.kysely)
        await sql`
          UPDATE quotas SET reserved_bytes = reserved_bytes + ${rows[0]?.reserved_bytes ?? 0}
          WHERE user_id = ${userId}
        `.execute(database.kysely)
        return ledger.commit(upload)
      },
    }),
  },

  'removes the object when the outcome of a commit is unknown': {
    ledger: ({ ledger, objects }) => {
      const { begun, ...remembering } = remember(ledger)
      return {
        ...remembering,
        async commit(upload) {
          try {
            return await ledger.commit(upload)
          } catch (error) {
            const { signal } = new AbortController()
            const key = begun(upload.version)?.objectKey
            if (key !== undefined) await objects.remove({ key, signal }).catch(() => undefined)
            throw error
          }
        },
      }
    },
  },

  'loses a decrement of the quota': {
    ledger: ({ ledger }, { database }) => ({
      async deleteFile(file) {
        const { userId } = file
        const [usage, old] = [
          await readUsage(ledger, userId),
          await ledger.findFile({ ...file, audience: 'owner' }),
        ]
        const version = await ledger.deleteFile(file)
        await sql`
          UPDATE quotas SET used_bytes = ${(usage?.used ?? 0) - (old?.size ?? 0)}
          WHERE user_id = ${userId}
        `.execute(database.kysely)
        return version
      },
    }),
  },

  'tests a precondition only when it begins': {
    ledger: ({ ledger }) => ({
      commit: (upload) => ledger.commit({ ...upload, precondition: undefined }),
    }),
  },

  'takes an unknown commit for a success': {
    ledger: ({ ledger }) => {
      const { begun, ...remembering } = remember(ledger)
      return {
        ...remembering,
        async commit(upload) {
          try {
            return await ledger.commit(upload)
          } catch (error) {
            const asked = begun(upload.version)
            if (!isAppError(error, 'unavailable') || asked === undefined) throw error
            const { name, objectKey } = asked
            const times = { createdAt: 0, updatedAt: 0, modifiedAt: 0, expiresAt: NEVER }
            const described = { visibility: 'private', mediaType: null, metadata: null } as const
            const kept = { isKept: 0, storedBy: null, deviceId: null, metadataBytes: 0 } as const
            const file = { ...upload, ...times, ...described, ...kept, name, objectKey } as const
            const usage = { capacity: 0, used: 0, reserved: 0, fileCount: 0 }
            return { file, replaced: false, usage }
          }
        },
      }
    },
  },

  'forgets uploads whose objects it could not remove': {
    ledger: ({ ledger }) => ({
      noteAbortedRemovals: (removals) => {
        const { removed, failed } = removals
        return ledger.noteAbortedRemovals({ ...removals, removed: [...removed, ...failed] })
      },
    }),
    retentionMs: 120_000,
  },

  'forgets aborted uploads at once': { retentionMs: 0 },
}

type Begun = Pick<BeginUpload, 'userId' | 'name' | 'objectKey'>

/** How uploads begin on an instance, and what it was given for each version. */
function remember(ledger: Ledger): Pick<Ledger, 'begin' | 'createResumable'> & {
  /** `undefined` for a resumable upload of another instance. */
  readonly begun: (version: Version) => Begun | undefined
} {
  const uploads = new Map<Version, Begun>()
  return {
    begin(upload) {
      uploads.set(upload.version, upload)
      return ledger.begin(upload)
    },
    createResumable(upload) {
      uploads.set(upload.version, upload)
      return ledger.createResumable(upload)
    },
    begun: (version) => uploads.get(version),
  }
}

/** When the upload of an object began, by the clock of its instance: the first 48 bits of its version. */
function bornAt(key: string): number {
  const version = key.split('/').at(-1) ?? ''
  return Number.parseInt(version.replaceAll('-', '').slice(0, 12), 16)
}
