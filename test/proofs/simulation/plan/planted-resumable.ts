import { sql } from 'kysely'
import { digestOf } from '../../../../src/core/objects/content-digest.ts'
import type { NamedUpload } from '../../../../src/core/resumable/named-upload.ts'
import type { ResumableUpload } from '../../../../src/core/resumable/resumable-ledger.ts'
import type { Ports, Variant } from '../world/world.ts'

/** Bugs that services with resumable uploads have had or could have. The checker must find them all. */
export const PLANTED_RESUMABLE_BUGS: Readonly<Record<string, Variant>> = {
  'records without a test of the epoch': {
    sharedLedger: ({ ledger, database }) => ({
      async recordAppend(record) {
        const { rows } = await sql<{ readonly epoch: number }>`
          SELECT epoch FROM resumable_uploads WHERE version = ${record.version}
        `.execute(database.kysely)
        return ledger.recordAppend({ ...record, epoch: rows[0]?.epoch ?? record.epoch })
      },
    }),
  },

  'removes the tail when an append claims it': {
    ledger: ({ ledger, objects }) => ({
      async claimAppend(asked) {
        const claim = await ledger.claimAppend(asked)
        const { signal } = new AbortController()
        for (const { objectKey: key } of claim?.tail ?? []) {
          if (key !== undefined) await objects.remove({ key, signal }).catch(() => undefined)
        }
        return claim
      },
    }),
  },

  'tells the offset of an upload that is sealed': {
    uploads: (uploads, ports) => ({
      async resume(named) {
        try {
          return await uploads.resume(named)
        } catch (error) {
          const found = await sealedUpload(ports, named)
          if (found === undefined) throw error
          return found
        }
      },
    }),
  },

  'takes the digest of an append for that of the content': {
    ledger: ({ ledger }, { operations, timeline }) => ({
      recordAppend(record) {
        const append = operations[timeline.actor()?.operation ?? -1]?.append
        if (record.sealed === undefined || append === undefined) return ledger.recordAppend(record)
        return ledger.recordAppend({ ...record, sealed: { digest: digestOf(append.bytes) } })
      },
    }),
  },

  'does not put off the removal of tails': {
    sharedLedger: ({ ledger, database }) => ({
      async recordAppend(record) {
        const { rows } = await sql<DueKey>`
          SELECT object_key, not_before FROM garbage
        `.execute(database.kysely)
        const isRecorded = await ledger.recordAppend(record)
        for (const { object_key: key, not_before: dueAt } of rows) {
          await sql`
            UPDATE garbage SET not_before = min(not_before, ${dueAt}) WHERE object_key = ${key}
          `.execute(database.kysely)
        }
        return isRecorded
      },
    }),
  },

  'begins its parts where appends begin': {
    objects: (objects) => ({
      append: (append) =>
        objects.append({ ...append, partSize: Math.max(append.partSize, append.bodySize ?? 0) }),
    }),
  },

  'sends the whole content a second time': {
    objects: (objects) => ({
      planAppend: (append) =>
        objects.planAppend(append) ?? objects.planAppend({ ...append, storeState: '{}' }),
    }),
  },

  'fences an append that stores the whole content': {
    objects: () => ({ isFenceable: () => true }),
  },

  'moves the offset back to what the store confirms': {
    sharedLedger: ({ ledger, database }) => ({
      async fence(named) {
        const isFenced = await ledger.fence(named)
        await sql`
          DELETE FROM upload_pieces WHERE version = ${named.version} AND object_key IS NOT NULL
        `.execute(database.kysely)
        await sql`
          UPDATE resumable_uploads SET received_bytes = received_bytes - received_bytes % part_size
          WHERE version = ${named.version}
        `.execute(database.kysely)
        return isFenced
      },
    }),
  },

  'expires uploads by their age': {
    sharedLedger: ({ ledger, database }) => ({
      async recordAppend(record) {
        const { rows } = await sql<{ readonly lease_until: number }>`
          SELECT lease_until FROM uploads WHERE version = ${record.version}
        `.execute(database.kysely)
        const isRecorded = await ledger.recordAppend(record)
        await sql`
          UPDATE uploads SET lease_until = ${rows[0]?.lease_until ?? 0}
          WHERE version = ${record.version} AND state = 'pending'
        `.execute(database.kysely)
        return isRecorded
      },
    }),
  },

  'gives up a sealed upload whose commit is refused': {
    uploads: (uploads, ports) => ({
      async append(request) {
        try {
          return await uploads.append(request)
        } catch (error) {
          const found = await sealedUpload(ports, request)
          if (found !== undefined) await uploads.cancel(request)
          throw error
        }
      },
    }),
  },
}

interface DueKey {
  readonly object_key: string
  readonly not_before: number
}

async function sealedUpload(
  { ledger }: Ports,
  { subject: { userId }, version }: NamedUpload,
): Promise<ResumableUpload | undefined> {
  const found = await ledger.findResumable({ userId, version }).catch(() => undefined)
  return found?.state === 'sealed' ? found : undefined
}
