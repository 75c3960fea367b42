import { randomUUID } from 'node:crypto'

/** An account with one of each thing that an operation can name. */
export interface Scene {
  readonly userId: string
  /** Of the user, without a scope. */
  readonly token: string
  readonly adminToken: string
  /** The name of a file of 3 bytes. */
  readonly file: string
  /** A version of another file, which was deleted. */
  readonly version: string
  /** A resumable upload that has 3 of its 10 bytes. */
  readonly upload: string
  /** Of another token. */
  readonly tokenId: string
  /** The id of the link with the secret `download`. */
  readonly linkId: string
  /** The secret of a link to the file and others with its prefix. */
  readonly download: string
  /** The secret of a link that takes files. */
  readonly drop: string
  /** A resumable upload by that link, which has 3 of its 10 bytes. */
  readonly dropped: string
  /** The secret of a link with the password `right`. */
  readonly locked: string
  /** The name of an operator with the role `viewer`. */
  readonly operator: string
  /** An event of another user that could not be delivered. */
  readonly webhook: string
}

export const PREFIX = 'in-'

/** An id of nothing, for any kind of id but that of a user. */
export const ABSENT = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

/** Every account has this device, and this grant. */
export const DEVICE = 'camera'
export const GRANT = { source: 'gift', reference: 'one' } as const

/** A scene in which all but the user and the file is an id of nothing. */
export function withoutIds(known: Pick<Scene, 'userId' | 'token' | 'adminToken' | 'file'>): Scene {
  const secret = `crl_${'A'.repeat(43)}`
  return {
    ...known,
    version: ABSENT,
    upload: ABSENT,
    tokenId: ABSENT,
    linkId: ABSENT,
    download: secret,
    drop: secret,
    dropped: ABSENT,
    locked: secret,
    operator: 'nobody',
    webhook: `msg_${randomUUID()}`,
  }
}
