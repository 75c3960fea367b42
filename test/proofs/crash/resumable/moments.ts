import { setTimeout as delay } from 'node:timers/promises'
import { type ObjectKey, objectKey } from '../../../../src/core/objects/object-key.ts'
import type { Ports } from '../../../../src/compose/layers.ts'

/** Moments in the life of a resumable upload at which an instance can be killed exactly, in their order. */
export const MOMENTS = [
  'before the claim',
  'after the claim',
  'after a part, with others in flight',
  'after the bytes, before their record',
  'after the record',
  'before the seal',
  'after the seal',
  'during the completion',
  'after the completion',
  'during the re-read',
  'before the commit',
  'during the commit',
  'after the commit',
] as const

export type Moment = (typeof MOMENTS)[number]

interface Around {
  readonly before?: Moment
  readonly during?: Moment
  readonly after?: Moment
}

export interface Completion {
  readonly completing: ObjectKey
  readonly isOver: boolean
}

/** Ends this process, as SIGKILL does, at the next call of a port that is the moment it was told. */
export class Moments {
  readonly #onCompletion: (completion: Completion) => void
  #awaited: Moment | undefined
  /** Versions and object keys of the uploads that are being finished. */
  readonly #finishing = new Set<string>()

  /** `onCompletion` is told when the store begins to make an object of its parts, and when that is over. */
  constructor(onCompletion: (completion: Completion) => void) {
    this.#onCompletion = onCompletion
  }

  await(moment: Moment): void {
    this.#awaited = moment
  }

  around(ports: Ports): Ports {
    return { ...ports, ledger: this.#aroundLedger(ports), objects: this.#aroundObjects(ports) }
  }

  #aroundLedger({ ledger }: Ports): Ports['ledger'] {
    return {
      ...ledger,
      claimAppend: (claim) =>
        this.#around(() => ledger.claimAppend(claim), {
          before: 'before the claim',
          after: 'after the claim',
        }),
      recordAppend: (record) => {
        const call = (): Promise<boolean> => ledger.recordAppend(record)
        if (record.sealed !== undefined) {
          const { userId, version } = record
          this.#finishing.add(version).add(objectKey(userId, version))
          return this.#around(call, SEAL)
        }
        return record.holderMs === undefined ? this.#around(call, RECORD) : call()
      },
      claimFinish: async (claim) => {
        const upload = await ledger.claimFinish(claim)
        if (upload !== undefined) this.#finishing.add(upload.version).add(upload.objectKey)
        return upload
      },
      commit: (upload) => {
        const call = () => ledger.commit(upload)
        return this.#finishing.has(upload.version) ? this.#around(call, COMMIT) : call()
      },
    }
  }

  #aroundObjects({ objects }: Ports): Ports['objects'] {
    return {
      ...objects,
      append: (append) => {
        const { offset } = append
        return objects.append({
          ...append,
          onDurable: (durable) => {
            append.onDurable(durable)
            if (durable.offset > offset) this.#at('after a part, with others in flight')
          },
        })
      },
      finish: (upload) => this.#around(() => this.#complete(objects, upload), COMPLETION),
      open: (opened) => {
        const call = () => objects.open(opened)
        return this.#finishing.has(opened.key)
          ? this.#around(call, { after: 'during the re-read' })
          : call()
      },
    }
  }

  async #complete(
    objects: Ports['objects'],
    upload: Parameters<Ports['objects']['finish']>[0],
  ): ReturnType<Ports['objects']['finish']> {
    const { key: completing } = upload
    this.#onCompletion({ completing, isOver: false })
    try {
      return await objects.finish(upload)
    } finally {
      this.#onCompletion({ completing, isOver: true })
    }
  }

  async #around<T>(call: () => Promise<T>, { before, during, after }: Around): Promise<T> {
    this.#at(before)
    const result = call()
    if (during !== undefined && during === this.#awaited) {
      await Promise.race([result, delay(Math.random() * MOST_DURATION_MS)])
      this.#at(during)
    }
    await result
    this.#at(after)
    return await result
  }

  #at(moment: Moment | undefined): void {
    if (moment === undefined || moment !== this.#awaited) return
    process.kill(process.pid, 'SIGKILL')
  }
}

const RECORD = {
  before: 'after the bytes, before their record',
  after: 'after the record',
} as const
const SEAL = { before: 'before the seal', after: 'after the seal' } as const
const COMPLETION = { during: 'during the completion', after: 'after the completion' } as const
const COMMIT = {
  before: 'before the commit',
  during: 'during the commit',
  after: 'after the commit',
} as const

/** About what a completion or a commit takes. */
const MOST_DURATION_MS = 8
