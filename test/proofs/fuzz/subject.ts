import { SPELLINGS } from '../../support/names/spellings.ts'
import type { Random } from '../simulation/plan/random.ts'

/** What the requests of a case are made of. */
export interface Subject {
  readonly userId: string
  /** The `Cookie` header of the user's requests. */
  readonly cookie: string
  readonly adminToken: string
  /** A file that is there before the case, and its etag. */
  readonly kept: { readonly name: string; readonly etag: string }
  /** An upload that is unfinished before the case. */
  readonly upload: OpenUpload
  /** A name that only this case uses, of visible ASCII. */
  readonly fresh: string
}

export interface OpenUpload {
  readonly id: string
  /** Of the bytes that it has. */
  readonly offset: number
  /** `undefined` while it is deferred. */
  readonly length: number | undefined
}

/** The ways to write a name in a target. */
export function spellings(name: string): readonly string[] {
  return SPELLINGS.map(([, spell]) => spell(name))
}

export function spelled(name: string, random: Random): string {
  return random.pick(SPELLINGS)[1](name)
}

/** Mostly none. */
export function someCondition({ kept }: Subject, random: Random): string[] {
  if (random.chance(0.7)) return []
  return [
    random.pick([
      'If-None-Match: *',
      `If-Match: "${kept.etag}"`,
      'If-Match: "other"',
      'Expect: 100-continue',
      'Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:',
      'Sec-Fetch-Site: same-origin',
    ]),
  ]
}
